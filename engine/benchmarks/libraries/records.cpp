// SPDX-License-Identifier: BSD-3-Clause
// The comparison as lines of the result file.
#include "benchmarks/libraries/views.hpp"

namespace effio::libraries {
namespace {

Json place(const Series& s) {
    return Json{{"library", s.point.library},
                {"hints", s.point.hints},
                {"edge", s.point.edge},
                {"processes", s.point.processes},
                {"access", s.write ? "write" : "read"}};
}

class RecordView : public Observer {
  public:
    RecordView(Recorder& recorder, const Parameters& parameters, int nodes)
        : recorder_(recorder), parameters_(parameters), nodes_(nodes) {}

    void cell(const Cell& cell) override {
        recorder_.measurement(to_measurement(cell, parameters_, nodes_));
    }

    void end(const Comparison& all) override {
        const Series* best = nullptr;
        std::vector<Json> averaged;
        for (const Series& s : all.series()) {
            bandwidth(s);
            if (const auto over = all.overhead(s)) share("overhead", place(s), *over, false);
            if (const auto gain = all.hint_gain(s)) share("hint_gain", place(s), *gain, true);
            if (const auto gain = all.mean_hint_gain(s.point, s.write)) {
                Json where = place(s);
                where.erase("processes");
                if (std::find(averaged.begin(), averaged.end(), where) == averaged.end()) {
                    share("hint_gain_mean", where, *gain, true);
                    averaged.push_back(std::move(where));
                }
            }
            if (const auto layer = all.layer(s)) {
                Figure f = figure("layer_seconds", place(s), Metric::time(layer->own_seconds));
                f.detail = Json{{"seconds", layer->seconds}, {"below", layer->below}};
                recorder_.figure(f);
            }
            if (s.write && (best == nullptr || s.rate() > best->rate())) best = &s;
        }
        Figure f = figure("libraries", Json::object(),
                          best != nullptr ? Metric::rate(best->rate())
                                          : Metric::none("B/s", "no point was measured"));
        if (best != nullptr) f.detail = Json{{"fastest_write", place(*best)}};
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
        const Samples samples = samples_of(s.rates);
        Figure f = figure("library_bandwidth", place(s), Metric::rate(samples.mean()));
        f.detail = Json{{"repetitions", samples.count()},
                        {"min", samples.min()},
                        {"max", samples.max()},
                        {"confidence95", samples.confidence95()},
                        {"seconds", s.mean_seconds()}};
        if (s.write && parameters_.fsync == "on") {
            f.detail["synced_bandwidth_bytes_per_second"] = s.synced_rate();
        }
        recorder_.figure(f);
    }

    void share(const char* name, Json where, double value, bool higher_is_better) {
        recorder_.figure(figure(name, std::move(where), {value, "1", higher_is_better, {}}));
    }

    Recorder& recorder_;
    const Parameters& parameters_;
    int nodes_;
};

}  // namespace

Measurement to_measurement(const Cell& cell, const Parameters& parameters, int nodes) {
    Measurement m = cell.run.to_measurement();
    m.benchmark = "libraries";
    m.pattern = parameters.scaling;
    m.where = Json{{"library", cell.point.library},
                   {"hints", cell.point.hints},
                   {"edge", cell.point.edge},
                   {"processes", cell.point.processes}};
    m.ranks = static_cast<int>(cell.point.processes);
    m.nodes = static_cast<int>(std::min<std::int64_t>(nodes, cell.point.processes));
    m.repetition = cell.repetition;
    return m;
}

Json describe(const Parameters& parameters, const Field& field, const ByteCap& cap) {
    Json contenders = Json::array();
    for (const auto& c : field.contenders) {
        contenders.push_back(Json{{"library", c.library},
                                  {"version", c.made->version()},
                                  {"hints", c.set->name},
                                  {"hints_asked", c.set->hints.to_json()},
                                  {"settings", c.made->describe()}});
    }
    return Json{{"scaling", parameters.scaling},
                {"contenders", std::move(contenders)},
                {"left_out", field.left_out},
                {"cap", cap.to_json()}};
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder, const Parameters& parameters,
                                           int nodes) {
    return std::make_unique<RecordView>(recorder, parameters, nodes);
}

}  // namespace effio::libraries
