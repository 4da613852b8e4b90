// SPDX-License-Identifier: BSD-3-Clause
// b_eff's events as lines of the result file.
#include "benchmarks/b_eff/views.hpp"
#include "benchmarks/round_figures.hpp"
#include "core/or_null.hpp"

namespace effio::b_eff {
namespace {

Json place(const Pattern& p, int method) {
    return Json{{"pattern", p.number},
                {"family", name(p.family)},
                {"method", option_name(static_cast<Method>(method))}};
}

Json to_json(const Means& m) {
    return Json{{"rings_bytes_per_second", m.rings},
                {"random_rings_bytes_per_second", m.random},
                {"bytes_per_second", m.both}};
}

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void length(const RunResult& run, LengthDone done) override {
        for (std::size_t pattern = 0; pattern < run.pattern_count(); ++pattern) {
            for (int method = 0; method < method_count; ++method) {
                const Cell& c = run.cell(done.repetition, done.length, pattern, method);
                if (c.state == Cell::State::measured) record(run, done, pattern, method, c);
            }
        }
    }

    void round_end(const RunResult& run) override {
        collect(run);
        rounds_.end_round();
    }

    void end(const RunResult& run) override {
        if (rounds_.rounds() == 0) collect(run);
        for (const Figure& f : rounds_.figures()) recorder_.figure(f);
    }

  private:
    void collect(const RunResult& run) {
        for (std::size_t i = 0; i < run.pattern_count(); ++i) pattern_figure(run, i);
        if (!run.complete) {
            put("b_eff", Metric::none("B/s", "the run was stopped before its end"));
            return;
        }
        for (int length = 0; length < length_count; ++length) {
            const Means m = bandwidth_at(run, length);
            Figure f = figure("bandwidth_at_length", rate(m.both));
            f.where["length_bytes"] = run.setup.lengths[length];
            f.detail = to_json(m);
            rounds_.add(f);
        }
        for (int method = 0; method < method_count; ++method) {
            if (!run.uses(method)) continue;
            const Means m = effective_bandwidth(run, {method, {}});
            Figure f = figure("b_eff_of_method", rate(m.both));
            f.where["method"] = option_name(static_cast<Method>(method));
            f.detail = to_json(m);
            rounds_.add(f);
        }
        summary_figures(run);
    }

    void record(const RunResult& run, LengthDone done, std::size_t pattern, int method,
                const Cell& c) {
        const Pattern& p = run.setup.patterns[pattern];
        Measurement m;
        m.benchmark = "b-eff";
        m.scattered = true;
        m.pattern = p.name;
        m.access = "exchange";
        m.where = place(p, method);
        m.where["length_bytes"] = run.setup.lengths[done.length];
        m.where["length"] = done.length;
        m.ranks = p.participants();
        m.nodes = run.setup.nodes;
        m.repetition = run.round * run.repetitions() + done.repetition;
        m.operations = c.loops * p.messages_at_once();
        m.bytes = m.operations * run.setup.lengths[done.length];
        m.seconds = {{"total", c.seconds}};
        m.rate = c.invalid.empty() ? Metric::rate(c.rate) : Metric::none("B/s", c.invalid);
        m.valid = c.invalid.empty();
        m.invalid_reason = c.invalid;
        m.stopped_by = "count";
        m.error_count = c.errors;
        m.detail = Json{{"loops", c.loops},
                        {"round", number_of(run.round)},
                        {"process_bytes_per_second", c.process_rate.to_json()},
                        {"nominal_messages_per_loop", p.messages()},
                        {"steps_per_loop", p.step_count()}};
        recorder_.measurement(m);
    }

    void pattern_figure(const RunResult& run, std::size_t i) {
        const Pattern& p = run.setup.patterns[i];
        Figure f = figure("pattern_bandwidth", rate(run.pattern_average(i)));
        f.where = Json{{"pattern", p.number}, {"family", name(p.family)}, {"name", p.name}};
        Json methods = Json::object();
        for (int m = 0; m < method_count; ++m) {
            if (run.uses(m) && p.has_method(m)) {
                methods[option_name(static_cast<Method>(m))] = run.pattern_average(i, {m, {}});
            }
        }
        f.detail = Json{{"counts", p.counts()},
                        {"messages", p.messages()},
                        {"steps", p.step_count()},
                        {"participants", p.participants()},
                        {"messages_within_nodes", run.node_steps[i].within},
                        {"messages_between_nodes", run.node_steps[i].between},
                        {"bytes_per_second_by_method", std::move(methods)}};
        if (!run.complete) f.reasons.emplace_back("incomplete: the run was stopped");
        rounds_.add(f);
    }

    void summary_figures(const RunResult& run) {
        const Summary s = summarize(run);
        const double ranks = run.setup.ranks;
        const int last = length_count - 1;
        put("b_eff_per_process", rate(s.b_eff.both / ranks));
        put("b_eff_at_lmax", rate(s.at_lmax.both));
        put("b_eff_at_lmax_rings", rate(s.at_lmax.rings));
        put("latency", time(s.latency));
        put("latency_rings", time(s.ring_latency));
        if (run.setup.parameters.additional) {
            put("ping_pong_latency", time(s.ping_pong_latency));
            Figure f = figure("ping_pong_bandwidth", rate(s.ping_pong_bandwidth));
            f.where["length_bytes"] = run.setup.lengths[last];
            rounds_.add(f);
        }
        const Uncertainty u = uncertainty(run);
        Figure f = figure("b_eff", run.errors > 0 ? Metric::none("B/s", "messages arrived wrong")
                                                  : rate(s.b_eff.both));
        f.valid = valid(run);
        Json list = Json::array();
        for (const auto& c : criteria(run)) {
            list.push_back(Json{{"text", c.text}, {"reached", c.reached}});
            if (!c.reached) f.reasons.push_back("not reached: " + c.text);
        }
        Json shortened = Json::array();
        for (int r = 0; r < run.repetitions(); ++r) shortened.push_back(run.shortened(r));
        f.detail = to_json(s.b_eff);
        f.detail["criteria"] = std::move(list);
        f.detail["by_repetition_bytes_per_second"] = u.by_repetition;
        f.detail["repetitions_mean_bytes_per_second"] = u.mean;
        f.detail["repetitions_spread_fraction"] = u.spread;
        f.detail["repetitions_half_width95_bytes_per_second"] = or_null(u.half_width);
        f.detail["random_rings_factor95"] = or_null(u.random_factor);
        f.detail["longest_lengths_shortened"] = std::move(shortened);
        f.detail["loop_seconds"] = run.loop_seconds;
        f.detail["official_time_share"] = run.official_time_share();
        rounds_.add(f);
    }

    static Metric rate(double value) {
        return value > 0 ? Metric::rate(value) : Metric::none("B/s", "not measured");
    }
    static Metric time(double value) {
        return value > 0 ? Metric::time(value) : Metric::none("s", "not measured", false);
    }
    static Figure figure(const char* what, Metric metric) {
        Figure f;
        f.benchmark = "b-eff";
        f.name = what;
        f.metric = std::move(metric);
        return f;
    }
    void put(const char* what, Metric metric) { rounds_.add(figure(what, std::move(metric))); }

    Recorder& recorder_;
    RoundFigures rounds_;
};

}  // namespace

Json describe(const Setup& s) {
    Json patterns = Json::array();
    for (const Pattern& p : s.patterns) {
        patterns.push_back(
            Json{{"number", p.number}, {"name", p.name}, {"family", name(p.family)}});
    }
    return Json{{"memory_per_rank_mib", s.memory_mib},
                {"lmax_bytes", s.lmax},
                {"lengths_bytes", s.lengths.bytes},
                {"seed", s.seed},
                {"repetitions", s.parameters.repetitions()},
                {"rounds", s.parameters.rounds},
                {"random_patterns", s.parameters.random_patterns()},
                {"loop_seconds", s.parameters.loop_seconds()},
                {"grid_2d", s.grid_2d},
                {"grid_3d", s.grid_3d},
                {"patterns", std::move(patterns)}};
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::b_eff
