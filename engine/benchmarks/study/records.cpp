// SPDX-License-Identifier: BSD-3-Clause
// A study as lines of the result file.
#include <algorithm>
#include <utility>

#include "benchmarks/round_figures.hpp"
#include "benchmarks/study/enough.hpp"
#include "benchmarks/study/views.hpp"

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
            if (mean.share) recorder_.figure(share(mean));
            if (!mean.file_rates.empty()) {
                recorder_.figure(
                    mean_of(figure("files_per_second", mean.where(), {0, "op/s", true, {}}),
                            mean.file_rates, "no valid repetition"));
            }
            if (mean.speed_up && !mean.cell->is_peak) scaling(mean);
        }
        for (const auto& flow : flows) {
            recorder_.figure(
                figure(flow.what->name, flow.where,
                       flow.value ? Metric{*flow.value, flow.what->unit, true, {}}
                                  : Metric::none(flow.what->unit, "a part was not measured")));
        }
        for (const auto& curve : enough_of(definition_, means)) {
            recorder_.figure(curve.figure(definition_.name));
        }
        const Mean* best = Means::best(means);
        Figure f = figure(underscored(definition_.name), Json::object(),
                          best != nullptr ? Metric::rate(best->rates.mean())
                                          : Metric::none("B/s", "nothing was measured"));
        if (best != nullptr) f.detail = Json{{"place", best->where()}};
        recorder_.figure(f);
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

    Figure bandwidth(const Mean& mean) const {
        Figure f = figure(std::string(mean.figure_name()), mean.where(), Metric::rate(0));
        f.detail =
            Json{{"ranks", mean.cell->ranks}, {"cache", mean.cache}, {"backend", mean.backend}};
        if (mean.rates.count() > 0) {
            f.detail["transfer_rate_bytes_per_second"] = mean.transfer_rates.mean();
        }
        return mean_of(std::move(f), mean.values(), "no valid repetition");
    }

    Figure share(const Mean& mean) const {
        Figure f = figure("share_of_peak", mean.where(), {*mean.share, "1", true, {}});
        if (*mean.share > 1) {
            f.valid = false;
            f.reasons = {"above the peak: a cache took part"};
        }
        return f;
    }

    void scaling(const Mean& mean) {
        for (const auto& [name, value] :
             {std::pair("speed_up", *mean.speed_up), std::pair("efficiency", mean.efficiency())}) {
            Figure f = figure(name, mean.where(), {value, "1", true, {}});
            f.detail = Json{{"ranks", mean.cell->ranks}, {"from_ranks", mean.from_ranks}};
            recorder_.figure(f);
        }
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
             {"peak_bytes_per_second", nullptr}};
    if (definition.peak) out["peak_bytes_per_second"] = definition.peak->count;
    for (const auto& [key, value] : definition.detail.items()) out[key] = value;
    return out;
}

}  // namespace effio::study
