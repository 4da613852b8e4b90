// SPDX-License-Identifier: BSD-3-Clause
// The comparison as lines of the result file.
#include <algorithm>
#include <utility>
#include <vector>

#include "benchmarks/libraries/views.hpp"
#include "benchmarks/round_figures.hpp"

namespace effio::libraries {
namespace {

Json place(const Series& s) {
    return Json{{"library", s.point.library},
                {"hints", s.point.hints},
                {"edge", s.point.edge},
                {"processes", s.point.processes},
                {"access", s.write ? "write" : "read"}};
}

class Records {
  public:
    Records(Recorder& recorder, const Parameters& parameters)
        : recorder_(recorder), parameters_(parameters) {}

    void tell(const Comparison& all) {
        std::vector<Json> averaged;
        for (const Series& s : all.series()) {
            bandwidth(s);
            if (const auto over = all.overhead(s)) {
                Figure f = figure("overhead", place(s), {over->value, "1", false, {}});
                f.detail = Json{{"baseline", all.base()}};
                recorder_.figure(composed_of(std::move(f), over->without));
            }
            if (s.point.hints != "none") {
                gain("hint_gain", place(s), all.hint_gain(s));
                Json where = place(s);
                where.erase("processes");
                if (std::find(averaged.begin(), averaged.end(), where) == averaged.end()) {
                    gain("hint_gain_mean", where, all.mean_hint_gain(s.point, s.write));
                    averaged.push_back(std::move(where));
                }
            }
            if (s.mean->hole_bytes > 0) {
                recorder_.figure(figure("holes", place(s),
                                        {static_cast<double>(s.mean->hole_bytes), "B", false, {}}));
            }
            if (const auto layer = all.layer(s)) {
                Figure f = figure("layer_seconds", place(s), Metric::time(layer->own.value));
                f.detail = Json{{"seconds", layer->seconds}, {"below", layer->below}};
                recorder_.figure(composed_of(std::move(f), layer->own.without));
            }
        }
        const Series* best = all.fastest_write();
        Figure f =
            figure("libraries", Json::object(), Metric::none("B/s", "no point was measured"));
        if (best != nullptr) {
            std::vector<double> rates;
            for (const auto& [repetition, rate] : best->mean->round_synced_rates) {
                rates.push_back(rate);
            }
            f.metric = Metric::rate(0);
            f = mean_of(std::move(f), rates, "no repetition is valid");
            f.detail["fastest_write"] = place(*best);
            f.detail["until_on_storage"] = best->mean->flushed;
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

    void bandwidth(const Series& s) {
        Figure f = mean_of(figure("library_bandwidth", place(s), Metric::rate(0)), s.mean->values(),
                           "no repetition is valid");
        f.detail["mean_seconds"] = s.seconds();
        if (s.write && parameters_.fsync != study::Sync::none) {
            f.detail["synced_bandwidth_bytes_per_second"] = s.mean->synced_rates.mean();
        }
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
    Records(recorder, parameters).tell(all);
}

}  // namespace effio::libraries
