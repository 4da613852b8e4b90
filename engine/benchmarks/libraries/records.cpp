// SPDX-License-Identifier: BSD-3-Clause
// The comparison as lines of the result file.
#include <algorithm>
#include <utility>
#include <vector>

#include "benchmarks/libraries/views.hpp"
#include "core/fields.hpp"
#include "frame/round_figures.hpp"

namespace effio::libraries {
namespace {

const Fields<PointMean>& library_fields() {
    using S = PointMean;
    static const Fields<S> fields{
        {"library", Unit::word, "that wrote or read", [](const S& s) { return s.point.library; }},
        {"hints", Unit::word, "name of the set", [](const S& s) { return s.point.hints; }},
        {"edge", Unit::count, "elements of the cube's edge",
         [](const S& s) { return s.point.edge; }}};
    return fields;
}

Field<PointMean> access_field() {
    return {"access", Unit::word, "write or read",
            [](const PointMean& s) { return s.write ? "write" : "read"; }};
}

/// All but the number of processes.
const Fields<PointMean>& average_place_fields() {
    static const Fields<PointMean> fields(library_fields(), {access_field()});
    return fields;
}

const Fields<PointMean>& place_fields() {
    static const Fields<PointMean> fields(library_fields(),
                                          {{"processes", Unit::count, "that took part",
                                            [](const PointMean& s) { return s.point.processes; }},
                                           access_field()});
    return fields;
}

/// A series of a comparison, and what its rates were meant to include.
struct Compared {
    const PointMean& series;
    bool flushed = false;
};

const Fields<Compared>& bandwidth_fields() {
    using C = Compared;
    static const Fields<C> fields{
        {"mean_seconds", Unit::seconds, "that the rate counts",
         [](const C& c) { return c.series.seconds(); }},
        Field<C>("synced_bandwidth_bytes_per_second", Unit::bytes_per_second, "until on storage",
                 [](const C& c) { return c.series.mean->synced_rates.mean(); })
            .only_if([](const C& c) { return c.series.write && c.flushed; })};
    return fields;
}

const Fields<Comparison>& overhead_fields() {
    static const Fields<Comparison> fields{
        {"baseline", Unit::word, "form of one file per process", &Comparison::base},
        // Optional: older results do not have it, and the schema must accept them.
        Field<Comparison>("ratio_of", Unit::word,
                          "mean rates; older results have none, and compared mean times",
                          [](const Comparison&) { return "mean rates"; })
            .only_if([](const Comparison&) { return true; })};
    return fields;
}

const Fields<Comparison::Layer>& layer_fields() {
    using L = Comparison::Layer;
    static const Fields<L> fields{
        {"seconds", Unit::seconds, "of the library with all below it", &L::seconds},
        {"below", Unit::word, "the layer below; empty: the lowest", &L::below}};
    return fields;
}

const Fields<PointMean>& fastest_fields() {
    static const Fields<PointMean> fields{
        {"fastest_write", place_fields(), "where the rate was measured"},
        {"until_on_storage", Unit::flag, "the rate includes the flush",
         [](const PointMean& s) { return s.mean->flushed; }}};
    return fields;
}

class Records {
  public:
    Records(Recorder& recorder, const Parameters& parameters)
        : recorder_(recorder), parameters_(parameters) {}

    void write(const Comparison& all) {
        std::vector<Json> averaged;
        for (const PointMean& s : all.series()) {
            bandwidth(s);
            if (const auto over = all.overhead(s)) {
                Figure f =
                    figure("overhead", place_fields().json(s), {over->value, "1", false, {}});
                f.detail = overhead_fields().json(all);
                recorder_.figure(composed_of(std::move(f), over->without));
            }
            if (s.point.hints != "none") {
                gain("hint_gain", place_fields().json(s), all.hint_gain(s));
                Json where = average_place_fields().json(s);
                if (std::find(averaged.begin(), averaged.end(), where) == averaged.end()) {
                    gain("hint_gain_mean", where, all.mean_hint_gain(s.point, s.write));
                    averaged.push_back(std::move(where));
                }
            }
            if (s.mean->hole_bytes > 0) {
                recorder_.figure(figure("holes", place_fields().json(s),
                                        {static_cast<double>(s.mean->hole_bytes), "B", false, {}}));
            }
            if (const auto layer = all.layer(s)) {
                Figure f =
                    figure("layer_seconds", place_fields().json(s), Metric::time(layer->own.value));
                f.detail = layer_fields().json(*layer);
                recorder_.figure(composed_of(std::move(f), layer->own.without));
            }
        }
        const PointMean* best = all.fastest_write();
        Figure f =
            figure("libraries", Json::object(), Metric::none("B/s", "no point was measured"));
        if (best != nullptr) {
            std::vector<double> rates;
            for (const auto& [repetition, rate] : best->mean->round_synced_rates) {
                rates.push_back(rate);
            }
            f.metric = Metric::rate(0);
            f = mean_of(std::move(f), rates, "no repetition is valid");
            f.detail.update(fastest_fields().json(*best));
        }
        recorder_.figure(f);
    }

  private:
    static Figure figure(const char* name, Json where, Metric metric) {
        Figure f;
        f.benchmark = "libraries";
        f.name = name;
        f.where = std::move(where);
        f.metric = std::move(metric);
        return f;
    }

    void bandwidth(const PointMean& s) {
        Figure f = mean_of(figure("library_bandwidth", place_fields().json(s), Metric::rate(0)),
                           s.mean->values(), "no repetition is valid");
        f.detail.update(bandwidth_fields().json({s, parameters_.fsync != study::Sync::none}));
        recorder_.figure(f);
    }

    void gain(const char* name, Json where, const std::optional<Gain>& found) {
        Figure f = figure(name, std::move(where),
                          Metric::none("1", "a gain has no interval below five repetitions"));
        if (found) {
            f.metric = {found->mean, "1", true, {}};
            f.samples = SampleSummary{
                .count = found->repetitions, .low95 = found->low95, .high95 = found->high95};
        }
        recorder_.figure(f);
    }

    Recorder& recorder_;
    const Parameters& parameters_;
};

}  // namespace

void record(Recorder& recorder, const Comparison& all, const Parameters& parameters) {
    Records(recorder, parameters).write(all);
}

void add_figures(ResultInfo& info) {
    const FieldInfos place = place_fields().infos();
    const auto add = [&](const char* name, Unit unit, const char* meaning, FieldInfos where,
                         FieldInfos detail = {}, bool has_interval = true) {
        if (has_interval) detail.push_back(interval_field());
        info.figures.push_back({name, unit, meaning, std::move(where), std::move(detail)});
    };
    add("library_bandwidth", Unit::bytes_per_second, "mean over the repetitions", place,
        bandwidth_fields().infos());
    add("overhead", Unit::number, "mean rate of the baseline over that of the library, minus one",
        place, overhead_fields().infos());
    add("hint_gain", Unit::number, "rate with the hints over that without, minus one", place, {},
        false);
    add("hint_gain_mean", Unit::number, "the same, mean over the numbers of processes",
        average_place_fields().infos(), {}, false);
    add("holes", Unit::bytes, "of the files, left empty by alignment", place, {}, false);
    add("layer_seconds", Unit::seconds, "of the library beyond the layer below it", place,
        layer_fields().infos());
    add("libraries", Unit::bytes_per_second, "the fastest write", {}, fastest_fields().infos());
    info.figures.back().detail = if_known(std::move(info.figures.back().detail));
}

}  // namespace effio::libraries
