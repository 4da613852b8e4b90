// SPDX-License-Identifier: BSD-3-Clause
// A study as lines of the result file.
#include <algorithm>
#include <utility>

#include "core/fields.hpp"
#include "core/rounds.hpp"
#include "frame/readable.hpp"
#include "frame/round_figures.hpp"
#include "frame/study/enough.hpp"
#include "frame/study/views.hpp"

namespace effio::study {
namespace {

const Fields<Mean>& bandwidth_fields() {
    using M = Mean;
    using F = Field<M>;
    static const Fields<M> fields{
        {"ranks", Unit::count, "of the cell", [](const M& m) { return m.cell->ranks; }},
        {"cache", Unit::word, "where the bytes were",
         [](const M& m) { return name(m.whereabouts()); }},
        {"storage_fraction", Unit::number, "of the bytes, on storage or read from it",
         &M::storage_fraction},
        {"backend", Unit::word, "that moved the data", &M::backend},
        F("transfer_rate_bytes_per_second", Unit::bytes_per_second, "of the calls alone",
          [](const M& m) {
              return m.transfer_rates.mean();
          }).only_if([](const M& m) { return m.rates.count() > 0; }),
        F("hole_fraction", Unit::number, "of the bytes read, never written", [](const M& m) {
            return *m.holes;
        }).only_if([](const M& m) { return m.holes.has_value(); })};
    return fields;
}

const Fields<Peak>& peak_fields() {
    using P = Peak;
    using F = Field<P>;
    const auto measured = [](const P& p) { return !p.given; };
    static const Fields<P> fields{
        {"peak_bytes_per_second", Unit::bytes_per_second, "that the rate is compared with",
         &P::rate},
        {"given", Unit::flag, "by --peak, not measured", &P::given},
        F("peak_place", Unit::object, "cell that measured it", &P::where).only_if(measured),
        F("peak_low95_bytes_per_second", Unit::bytes_per_second, "low end of its 95 % interval",
          [](const P& p) {
              const auto interval = interval_of_rounds(p.values);
              return interval ? std::optional(interval->mean - interval->half_width) : std::nullopt;
          }).only_if(measured),
        F("peak_high95_bytes_per_second", Unit::bytes_per_second, "high end of its 95 % interval",
          [](const P& p) {
              const auto interval = interval_of_rounds(p.values);
              return interval ? std::optional(interval->mean + interval->half_width) : std::nullopt;
          }).only_if(measured)};
    return fields;
}

const Fields<Mean>& scaling_fields() {
    using M = Mean;
    static const Fields<M> fields{
        {"ranks", Unit::count, "of the cell", [](const M& m) { return m.cell->ranks; }},
        {"from_ranks", Unit::count, "of the cell that it is compared with", &M::from_ranks}};
    return fields;
}

/// What the headline names in addition to its value.
struct HeadlineRate {
    std::string figure = {};                       ///< of a throughput
    std::optional<Json> place = {};                ///< of the value
    std::optional<Json> weakest = {};              ///< the lowest rate
    std::optional<std::vector<Json>> others = {};  ///< the highest rates of other accesses
};

const Fields<HeadlineRate>& headline_fields() {
    using N = HeadlineRate;
    using F = Field<N>;
    static const Fields<N> fields{
        F("figure", Unit::word, "whose value it is", &N::figure).only_if([](const N& n) {
            return !n.figure.empty();
        }),
        F("place", Unit::object, "where the value was measured",
          [](const N& n) {
              return *n.place;
          }).only_if([](const N& n) { return n.place.has_value(); }),
        F("weakest", Unit::object, "where the lowest rate was measured",
          [](const N& n) {
              return *n.weakest;
          }).only_if([](const N& n) { return n.weakest.has_value(); }),
        F("others", Unit::object, "the highest rates of other accesses", [](const N& n) {
            return *n.others;
        }).only_if([](const N& n) { return n.others.has_value(); })};
    return fields;
}

class RecordView : public Observer {
  public:
    RecordView(Recorder& recorder, const Definition& definition)
        : recorder_(recorder), definition_(definition) {}

    void pass(const PassResult& result) override {
        recorder_.measurement(result.to_measurement(definition_.name));
    }

    void end(const std::vector<Mean>& means, const std::vector<Flow>& flows) override {
        if (definition_.reports_means) return;
        for (const auto& mean : means) {
            recorder_.figure(bandwidth(mean));
            if (mean.peak) recorder_.figure(share(mean));
            if (!mean.file_rates.empty()) {
                recorder_.figure(
                    mean_of(figure("files_per_second", mean.where(), {0, "op/s", true, {}}),
                            mean.file_rates, "no valid repetition"));
            }
            if (mean.speed_up && !mean.cell->is_peak) scaling(mean);
        }
        for (const auto& flow : flows) recorder_.figure(throughput(flow));
        const auto curves = enough_of(definition_, means);
        for (const auto& curve : curves) recorder_.figure(curve.figure(definition_.name));
        recorder_.figure(headline(means, flows, curves));
    }

    /// Of a throughput, `of` is in the name: each name has one unit.
    static std::string headline_name(const Definition& definition, const std::string& of = {}) {
        std::string name = definition.name + (of.empty() ? "" : "_" + of);
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    }

  private:
    Figure figure(std::string name, Json where, Metric metric) const {
        Figure f;
        f.benchmark = definition_.name;
        f.name = std::move(name);
        f.where = std::move(where);
        f.metric = std::move(metric);
        return f;
    }

    Figure throughput(const Flow& flow) const {
        return mean_of(figure(flow.what->name, flow.where,
                              {0, std::string(text_of(flow.what->unit)), true, {}}),
                       flow.values, "a part was not measured");
    }

    /// The result that answers the study's question; `own` is its name.
    Figure headline(const std::vector<Mean>& means, const std::vector<Flow>& flows,
                    const std::vector<EnoughRanks>& curves) const {
        const bool items = definition_.headline == Headline::throughputs;
        const std::string own = headline_name(definition_, items ? "bandwidth" : "");
        if (items && !flows.empty()) {
            Figure f = throughput(flows.front());
            f.name = headline_name(definition_, flows.front().what->name);
            f.where = Json::object();
            f.detail.update(
                headline_fields().json({flows.front().what->name, flows.front().where}));
            return f;
        }
        if (definition_.headline == Headline::enough) return most_of(curves, own);
        const auto best = Means::best(means);
        Figure f = figure(own, Json::object(), Metric::none("B/s", "nothing was measured"));
        if (best.empty()) return f;
        f.metric = Metric::rate(best.front()->rates.mean());
        HeadlineRate named{.place = best.front()->where()};
        if (definition_.headline == Headline::strongest_and_weakest) {
            named.weakest = Means::weakest(means, *best.front())->where();
        } else {
            named.others.emplace();
            for (std::size_t i = 1; i < best.size(); ++i) named.others->push_back(best[i]->where());
        }
        f.detail = headline_fields().json(named);
        return f;
    }

    /// The figure of the curve that needs the most ranks; not known if any curve is not known.
    Figure most_of(const std::vector<EnoughRanks>& curves, const std::string& own) const {
        Figure f =
            figure(own, Json::object(), Metric::none("1", "one number of processes only", false));
        const EnoughRanks* most = nullptr;
        const auto rank_of = [](const EnoughRanks& curve) {
            return std::pair(!curve.why_not_known().empty(), curve.of_point());
        };
        for (const auto& curve : curves) {
            if (most == nullptr || rank_of(curve) > rank_of(*most)) most = &curve;
        }
        if (most == nullptr) return f;
        f = most->figure(definition_.name);
        f.name = own;
        f.detail.update(headline_fields().json({.place = f.where}));
        f.where = Json::object();
        return f;
    }

    Figure bandwidth(const Mean& mean) const {
        Figure f = figure(std::string(mean.figure_name()), mean.where(), Metric::rate(0));
        f.detail = bandwidth_fields().json(mean);
        if (const auto remark = holes_remark(mean.holes); !remark.empty()) f.reasons = {remark};
        return mean_of(std::move(f), mean.values(), "no valid repetition");
    }

    Figure share(const Mean& mean) const {
        Figure f = figure("share_of_peak", mean.where(), {*mean.share(), "1", true, {}});
        f.detail = peak_fields().json(*mean.peak);
        if (mean.is_above_peak()) f.reasons = {mean.above_peak()};
        return f;
    }

    void scaling(const Mean& mean) {
        Figure speed = figure("speed_up", mean.where(), {*mean.speed_up, "1", true, {}});
        speed.detail = scaling_fields().json(mean);
        Figure efficiency = figure("efficiency", mean.where(),
                                   mean.efficiency ? Metric{*mean.efficiency, "1", true, {}}
                                                   : Metric::none("1", mean.no_efficiency));
        efficiency.detail = speed.detail;
        recorder_.figure(speed);
        recorder_.figure(efficiency);
    }

    Recorder& recorder_;
    const Definition& definition_;
};

}  // namespace

std::unique_ptr<Observer> make_record_view(Recorder& recorder, const Definition& definition) {
    return std::make_unique<RecordView>(recorder, definition);
}

namespace {

const Fields<Axis>& axis_fields() {
    static const Fields<Axis> fields{{"name", Unit::word, "of the member of `where`", &Axis::name},
                                     {"title", Unit::word, "in tables", &Axis::title},
                                     {"unit", Unit::word, "of its values", &Axis::unit}};
    return fields;
}

const Fields<Throughput>& throughput_fields() {
    static const Fields<Throughput> fields{
        {"name", Unit::word, "of the figure", &Throughput::name},
        Field<Throughput>("passes", Unit::word, "pattern and access of each",
                          [](const Throughput& t) {
                              Json passes = Json::array();
                              for (const auto& [pattern, access] : t.passes) {
                                  passes.push_back(Json::array({pattern, access}));
                              }
                              return passes;
                          })
            .rows()};
    return fields;
}

const Fields<Definition>& definition_fields() {
    using D = Definition;
    static const Fields<D> fields{
        {"axes", axis_fields(), "of the study", [](const D& d) { return d.cells.front().axes; }},
        {"rate_counts", Unit::word, "open to close, or the calls",
         [](const D& d) {
             return d.cells.front().counts == Counts::visit ? "open to close" : "the calls";
         }},
        {"headline", Unit::word, "what the headline shows",
         [](const D& d) { return name(d.headline); }},
        {"peak_bytes_per_second", Unit::bytes_per_second, "--peak",
         [](const D& d) { return d.peak ? std::optional(d.peak->count) : std::nullopt; }},
        Field<D>("throughputs", throughput_fields(), "figures of several passes together",
                 &D::throughputs)
            .only_if([](const D& d) { return !d.throughputs.empty(); })};
    return fields;
}

Unit unit_of(const Axis& axis) {
    if (axis.unit == text_of(Unit::bytes)) return Unit::bytes;
    return axis.unit.empty() ? Unit::word : Unit::count;
}

FieldInfos infos_of(const std::vector<Axis>& axes) {
    FieldInfos all;
    for (const auto& axis : axes) {
        const bool named = axis.name == axis.title || axis.name == axis.title + "_bytes";
        all.push_back({axis.name, unit_of(axis),
                       named ? "the cell's value on this axis" : axis.title, FieldShape::one,
                       true});
    }
    return all;
}

Facts of_this_run(const std::string& verified, const ByteCap& cap) {
    return {{"verified", Unit::word, "how much of the data is compared", verified},
            {"cap", cap_fields(), "limit on the bytes that the run may use", cap}};
}

/// The coordinates of all cells.
FieldInfos coordinates_of(const Definition& definition) {
    FieldInfos all = infos_of(definition.cells.front().axes);
    for (const auto& cell : definition.cells) all = merged(std::move(all), infos_of(cell.axes));
    if (!definition.possible_axes.empty()) {
        all = merged(std::move(all), infos_of(definition.possible_axes));
    }
    return all;
}

}  // namespace

Json describe(const Definition& definition, const std::string& verified, const ByteCap& cap) {
    Json out = definition_fields().json(definition);
    out.update(to_json(definition.facts));
    out.update(to_json(of_this_run(verified, cap)));
    return out;
}

ResultInfo result_info(const Definition& definition) {
    FieldInfos set = definition_fields().infos();
    for (const auto& facts : {definition.facts, of_this_run({}, {})}) {
        for (const auto& field : infos_of(facts)) set.push_back(field);
    }
    ResultInfo info{coordinates_of(definition),
                    pass_fields().infos(),
                    {},
                    {object_of("study", "cells and limits of the run", std::move(set))}};
    for (const auto& field : infos_of(definition.run_line)) info.run.push_back(field);
    FieldInfos place = info.where;
    place.push_back({"pattern", Unit::word, "of the cell"});
    place.push_back({"access", Unit::word, "of the pass"});
    const auto add = [&](const std::string& name, Unit unit, const char* meaning, FieldInfos where,
                         FieldInfos detail, bool with_interval = true) {
        if (with_interval) detail.push_back(interval_field());
        info.figures.push_back({name, unit, meaning, std::move(where), std::move(detail)});
    };
    info.figures.push_back(until_ci_info());
    if (definition.reports_means) return info;
    constexpr Unit rate = Unit::bytes_per_second;
    add("bandwidth", rate, "mean over the repetitions", place, bandwidth_fields().infos());
    add("peak", rate, "rate of streams that do nothing else", place, bandwidth_fields().infos());
    add("share_of_peak", Unit::number, "mean rate over the peak", place, peak_fields().infos(),
        false);
    add("files_per_second", Unit::operations_per_second, "mean over the repetitions", place, {});
    add("speed_up", Unit::number, "rate over that with the fewest ranks", place,
        scaling_fields().infos(), false);
    add("efficiency", Unit::number, "speed-up over the growth of the ranks", place,
        scaling_fields().infos(), false);
    for (const auto& what : definition.throughputs) {
        add(what.name, what.unit, "of several passes together", coordinates_of(definition), {});
    }
    // All of the place but the axis that is a number of ranks.
    add("enough_ranks", Unit::count, "fewest ranks that are enough", if_known(place),
        enough_fields().infos(), false);
    FieldInfos whole = merged(headline_fields().infos(), enough_fields().infos());
    whole.push_back(interval_field());
    whole.back().sometimes = true;
    const bool items = definition.headline == Headline::throughputs;
    const auto add_headline = [&](const std::string& of, Unit unit) {
        add(RecordView::headline_name(definition, of), unit,
            items ? "the headline: the first of these that was measured" : "the headline", {},
            whole, false);
    };
    if (items) {
        for (const auto& what : definition.throughputs) add_headline(what.name, what.unit);
    }
    add_headline(items ? "bandwidth" : "",
                 definition.headline == Headline::enough ? Unit::count : rate);
    return info;
}

}  // namespace effio::study
