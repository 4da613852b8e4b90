// SPDX-License-Identifier: BSD-3-Clause
// A study as lines of the result file.
#include <algorithm>
#include <utility>

#include "benchmarks/readable.hpp"
#include "benchmarks/round_figures.hpp"
#include "benchmarks/study/enough.hpp"
#include "benchmarks/study/views.hpp"
#include "core/certainty.hpp"

namespace effio::study {
namespace {

class RecordView : public Observer {
  public:
    RecordView(Recorder& recorder, const Definition& definition)
        : recorder_(recorder), definition_(definition) {}

    void pass(const PassResult& result) override {
        recorder_.measurement(result.to_measurement(definition_.name));
    }

    void end(const std::vector<Mean>& means, const std::vector<Flow>& flows) override {
        if (definition_.tells_means) return;
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

  private:
    static std::string underscored(std::string name) {
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    }

    Figure figure(std::string name, Json where, Metric metric) const {
        Figure f;
        f.benchmark = definition_.name;
        f.name = std::move(name);
        f.where = std::move(where);
        f.metric = std::move(metric);
        return f;
    }

    Figure throughput(const Flow& flow) const {
        return mean_of(figure(flow.what->name, flow.where, {0, flow.what->unit, true, {}}),
                       flow.values, "a part was not measured");
    }

    /// The result that answers the study's question; `own` is its name.
    Figure headline(const std::vector<Mean>& means, const std::vector<Flow>& flows,
                    const std::vector<EnoughRanks>& curves) const {
        const std::string own = underscored(definition_.name);
        if (definition_.headline == Headline::throughputs && !flows.empty()) {
            Figure f = throughput(flows.front());
            f.name = own;
            f.where = Json::object();
            f.detail.update(
                Json{{"figure", flows.front().what->name}, {"place", flows.front().where}});
            return f;
        }
        if (definition_.headline == Headline::enough) return most_of(curves, own);
        const auto best = Means::best(means);
        Figure f = figure(own, Json::object(), Metric::none("B/s", "nothing was measured"));
        if (best.empty()) return f;
        f.metric = Metric::rate(best.front()->rates.mean());
        f.detail = Json{{"place", best.front()->where()}};
        if (definition_.headline == Headline::strongest_and_weakest) {
            f.detail["weakest"] = Means::weakest(means, *best.front())->where();
        } else {
            f.detail["others"] = Json::array();
            for (std::size_t i = 1; i < best.size(); ++i) {
                f.detail["others"].push_back(best[i]->where());
            }
        }
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
        f.detail["place"] = f.where;
        f.where = Json::object();
        return f;
    }

    Figure bandwidth(const Mean& mean) const {
        Figure f = figure(std::string(mean.figure_name()), mean.where(), Metric::rate(0));
        const auto fraction = mean.storage_fraction();
        f.detail = Json{{"ranks", mean.cell->ranks},
                        {"cache", name(mean.whereabouts())},
                        {"storage_fraction", fraction ? Json(*fraction) : Json(nullptr)},
                        {"backend", mean.backend}};
        if (mean.rates.count() > 0) {
            f.detail["transfer_rate_bytes_per_second"] = mean.transfer_rates.mean();
        }
        if (mean.holes) f.detail["hole_fraction"] = *mean.holes;
        if (const auto remark = holes_remark(mean.holes); !remark.empty()) f.reasons = {remark};
        return mean_of(std::move(f), mean.values(), "no valid repetition");
    }

    Figure share(const Mean& mean) const {
        Figure f = figure("share_of_peak", mean.where(), {*mean.share(), "1", true, {}});
        const Peak& peak = *mean.peak;
        f.detail = Json{{"peak_bytes_per_second", peak.rate}, {"given", peak.given}};
        if (!peak.given) {
            f.detail["peak_place"] = peak.where;
            const auto range = range95(peak.values);
            f.detail["peak_low95_bytes_per_second"] = range ? Json(range->low) : Json(nullptr);
            f.detail["peak_high95_bytes_per_second"] = range ? Json(range->high) : Json(nullptr);
        }
        if (mean.is_above_peak()) f.reasons = {mean.above_peak()};
        return f;
    }

    void scaling(const Mean& mean) {
        Figure speed = figure("speed_up", mean.where(), {*mean.speed_up, "1", true, {}});
        speed.detail = Json{{"ranks", mean.cell->ranks}, {"from_ranks", mean.from_ranks}};
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

Json describe(const Definition& definition) {
    Json axes = Json::array();
    for (const auto& axis : definition.cells.front().axes) {
        axes.push_back(Json{{"name", axis.name}, {"title", axis.title}, {"unit", axis.unit}});
    }
    Json out{{"axes", std::move(axes)},
             {"rate_counts",
              definition.cells.front().counts == Counts::visit ? "open to close" : "the calls"},
             {"headline", name(definition.headline)},
             {"peak_bytes_per_second", nullptr}};
    for (const auto& what : definition.throughputs) {
        Json passes = Json::array();
        for (const auto& [pattern, access] : what.passes) {
            passes.push_back(Json::array({pattern, access}));
        }
        out["throughputs"].push_back(Json{{"name", what.name}, {"passes", std::move(passes)}});
    }
    if (definition.peak) out["peak_bytes_per_second"] = definition.peak->count;
    for (const auto& [key, value] : definition.detail.items()) out[key] = value;
    return out;
}

}  // namespace effio::study
