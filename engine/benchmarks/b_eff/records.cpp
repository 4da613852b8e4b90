// SPDX-License-Identifier: BSD-3-Clause
// b_eff's events as lines of the result file.
#include "benchmarks/b_eff/call_times.hpp"
#include "benchmarks/b_eff/pairs.hpp"
#include "benchmarks/b_eff/views.hpp"
#include "core/fields.hpp"
#include "frame/round_figures.hpp"
#include "frame/until_ci.hpp"

namespace effio::b_eff {
namespace {

/// One experiment, and where it belongs.
struct ExperimentPlace {
    const RunResult& run;
    LengthDone done;
    std::size_t number = 0;  ///< of the pattern
    int method = 0;

    const Pattern& pattern() const { return run.setup.patterns[number]; }
    const Experiment& experiment() const {
        return run.experiment(done.repetition, done.length, number, method);
    }
};

const Fields<ExperimentPlace>& place_fields() {
    using E = ExperimentPlace;
    static const Fields<E> fields{
        {"pattern", Unit::count, "number of the pattern",
         [](const E& e) { return e.pattern().number; }},
        {"family", Unit::word, "kind of pattern",
         [](const E& e) { return name(e.pattern().family); }},
        {"method", Unit::word, "sendrecv, alltoallv or nonblocking",
         [](const E& e) { return option_name(static_cast<Method>(e.method)); }},
        {"length_bytes", Unit::bytes, "of a message",
         [](const E& e) { return e.run.setup.lengths[e.done.length]; }},
        {"length", Unit::count, "number of the length, from 0",
         [](const E& e) { return e.done.length; }}};
    return fields;
}

const Fields<ExperimentPlace>& experiment_fields() {
    using E = ExperimentPlace;
    static const Fields<E> fields{
        {"loops", Unit::count, "timed together", [](const E& e) { return e.experiment().loops; }},
        {"round", Unit::count, "from 1", [](const E& e) { return number_of(e.run.round); }},
        {"process_bytes_per_second", spread_fields(Unit::bytes_per_second),
         "of a process that took part", [](const E& e) { return e.experiment().process_rate; }},
        {"nominal_messages_per_loop", Unit::count, "by the definition",
         [](const E& e) { return e.pattern().messages(); }},
        {"steps_per_loop", Unit::count, "by the definition",
         [](const E& e) { return e.pattern().step_count(); }},
        Field<E>("verification", message_count_fields(), "messages, with --verify all",
                 [](const E& e) { return e.experiment().verified; })
            .only_if([](const E& e) { return e.experiment().verified.any(); })};
    return fields;
}

const Fields<Means>& means_fields() {
    static const Fields<Means> fields{
        {"rings_bytes_per_second", Unit::bytes_per_second, "geometric mean of the rings",
         &Means::rings},
        {"random_rings_bytes_per_second", Unit::bytes_per_second,
         "geometric mean of the random rings", &Means::random},
        {"bytes_per_second", Unit::bytes_per_second, "geometric mean of these two", &Means::both}};
    return fields;
}

/// A pattern over all of the run.
struct OfPattern {
    const RunResult& run;
    std::size_t number = 0;

    const Pattern& pattern() const { return run.setup.patterns[number]; }
    Json by_method() const {
        Json methods = Json::object();
        for (int m = 0; m < method_count; ++m) {
            if (!run.uses(m) || !pattern().has_method(m)) continue;
            methods[option_name(static_cast<Method>(m))] = run.pattern_average(number, {m, {}});
        }
        return methods;
    }
};

const Fields<OfPattern>& pattern_place_fields() {
    using P = OfPattern;
    static const Fields<P> fields{
        {"pattern", Unit::count, "number of the pattern",
         [](const P& p) { return p.pattern().number; }},
        {"family", Unit::word, "kind of pattern",
         [](const P& p) { return name(p.pattern().family); }},
        {"name", Unit::word, "of the pattern", [](const P& p) { return p.pattern().name; }}};
    return fields;
}

const Fields<OfPattern>& pattern_fields() {
    using P = OfPattern;
    static const Fields<P> fields{
        {"counts", Unit::flag, "for b_eff", [](const P& p) { return p.pattern().counts(); }},
        {"messages", Unit::count, "of a loop", [](const P& p) { return p.pattern().messages(); }},
        {"steps", Unit::count, "of a loop", [](const P& p) { return p.pattern().step_count(); }},
        {"participants", Unit::count, "ranks that take part",
         [](const P& p) { return p.pattern().participants(); }},
        {"messages_within_nodes", Unit::count, "of a loop",
         [](const P& p) { return p.run.node_steps[p.number].within; }},
        {"messages_between_nodes", Unit::count, "of a loop",
         [](const P& p) { return p.run.node_steps[p.number].between; }},
        Field<P>("bytes_per_second_by_method", Unit::bytes_per_second,
                 "mean over the lengths of the best repetition", &P::by_method)
            .by_name()};
    return fields;
}

/// What b_eff itself is made from.
struct Whole : Means {
    const RunResult& run;
    const Uncertainty& uncertainty;

    Whole(const Means& means, const RunResult& of, const Uncertainty& u)
        : Means(means), run(of), uncertainty(u) {}
    std::vector<bool> shortened() const {
        std::vector<bool> all;
        for (int r = 0; r < run.repetitions(); ++r) all.push_back(run.shortened(r));
        return all;
    }
};

const Fields<Whole>& whole_fields() {
    using W = Whole;
    static const Fields<W> fields(
        means_fields(),
        {{"criteria", criterion_fields(), "rules of official runs",
          [](const W& w) { return criteria(w.run); }},
         {"by_repetition_bytes_per_second", Unit::bytes_per_second, "b_eff of each alone",
          [](const W& w) { return w.uncertainty.by_repetition; }},
         {"repetitions_mean_bytes_per_second", Unit::bytes_per_second, "of these",
          [](const W& w) { return w.uncertainty.mean; }},
         {"repetitions_spread_fraction", Unit::number, "(largest - smallest) / mean of these",
          [](const W& w) { return w.uncertainty.spread; }},
         {"repetitions_half_width95_bytes_per_second", Unit::bytes_per_second,
          "half of the 95 % interval of their mean",
          [](const W& w) { return w.uncertainty.half_width; }},
         {"random_rings_factor95", Unit::number,
          "b_eff times or over it: 95 % interval for the choice of random rings",
          [](const W& w) { return w.uncertainty.random_factor; }},
         {"longest_lengths_shortened", Unit::flag, "of each repetition, to save time",
          &W::shortened},
         {"loop_seconds", Unit::seconds, "of the loops so far, longest of the ranks",
          [](const W& w) { return w.run.loop_seconds; }},
         {"official_time_share", Unit::number, "of the loops of an official run",
          [](const W& w) { return w.run.official_time_share(); }}});
    return fields;
}

const Fields<Setup>& setup_fields() {
    using S = Setup;
    static const Fields<Pattern> pattern{
        {"number", Unit::count, "of the pattern", &Pattern::number},
        {"name", Unit::word, "of the pattern", &Pattern::name},
        {"family", Unit::word, "kind of pattern", [](const Pattern& p) { return name(p.family); }}};
    static const Fields<S> fields{
        {"memory_per_rank_mib", Unit::count, "MiB of a rank", &S::memory_mib},
        {"lmax_bytes", Unit::bytes, "longest message", &S::lmax},
        {"lengths_bytes", Unit::bytes, "of the messages",
         [](const S& s) {
             return std::vector<std::int64_t>(s.lengths.bytes.begin(), s.lengths.bytes.end());
         }},
        {"seed", Unit::count, "of the random rings", &S::seed},
        {"repetitions", Unit::count, "of a round",
         [](const S& s) { return s.parameters.repetitions(); }},
        {"rounds", Unit::count, "planned", [](const S& s) { return s.parameters.rounds; }},
        {"random_patterns", Unit::count, "random rings",
         [](const S& s) { return s.parameters.random_patterns(); }},
        {"loop_seconds", Unit::seconds, "planned for a loop",
         [](const S& s) { return s.parameters.loop_seconds(); }},
        {"grid_2d", Unit::count, "ranks in each direction", &S::grid_2d},
        {"grid_3d", Unit::count, "ranks in each direction", &S::grid_3d},
        {"patterns", pattern, "that are measured", &S::patterns}};
    return fields;
}

FieldInfo length_field() {
    return {"length_bytes", Unit::bytes, "of a message"};
}
FieldInfo method_field() {
    return {"method", Unit::word, "sendrecv, alltoallv or nonblocking"};
}

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void length(const RunResult& run, LengthDone done) override {
        for (std::size_t pattern = 0; pattern < run.pattern_count(); ++pattern) {
            for (int method = 0; method < method_count; ++method) {
                const Experiment& c = run.experiment(done.repetition, done.length, pattern, method);
                if (c.state == Experiment::State::measured) record(run, done, pattern, method, c);
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
            f.where[length_field().name] = run.setup.lengths[length];
            f.detail = means_fields().json(m);
            rounds_.add(f);
        }
        for (int method = 0; method < method_count; ++method) {
            if (!run.uses(method)) continue;
            const Means m = effective_bandwidth(run, {method, {}});
            Figure f = figure("b_eff_of_method", rate(m.both));
            f.where[method_field().name] = option_name(static_cast<Method>(method));
            f.detail = means_fields().json(m);
            rounds_.add(f);
        }
        summary_figures(run);
    }

    void record(const RunResult& run, LengthDone done, std::size_t pattern, int method,
                const Experiment& c) {
        const ExperimentPlace of{run, done, pattern, method};
        const Pattern& p = of.pattern();
        Measurement m;
        m.benchmark = "b-eff";
        m.scattered = true;
        m.pattern = p.name;
        m.access = "exchange";
        m.where = place_fields().json(of);
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
        m.verified_bytes = c.verified.whole * run.setup.lengths[done.length];
        m.detail = experiment_fields().json(of);
        recorder_.measurement(m);
    }

    void pattern_figure(const RunResult& run, std::size_t i) {
        const OfPattern of{run, i};
        Figure f = figure("pattern_bandwidth", rate(run.pattern_average(i)));
        f.where = pattern_place_fields().json(of);
        f.detail = pattern_fields().json(of);
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
            f.where[length_field().name] = run.setup.lengths[last];
            rounds_.add(f);
        }
        const Uncertainty u = uncertainty(run);
        Figure f = figure("b_eff", run.errors > 0 ? Metric::none("B/s", "messages arrived wrong")
                                                  : rate(s.b_eff.both));
        f.valid = valid(run);
        for (const auto& c : criteria(run)) {
            if (!c.reached) f.reasons.push_back("not reached: " + c.text);
        }
        f.detail = whole_fields().json({s.b_eff, run, u});
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

Json describe(const Setup& setup) {
    return setup_fields().json(setup);
}

ResultInfo result_info() {
    const ResultInfo of_calls = call_times_info();
    ResultInfo info{
        merged(place_fields().infos(), of_calls.where),
        merged(experiment_fields().infos(), of_calls.detail),
        {},
        {object_of("b-eff", "messages, patterns and time of the run", setup_fields().infos())}};
    const auto add = [&](const char* name, Unit unit, const char* meaning, FieldInfos where = {},
                         FieldInfos detail = {}) {
        detail.push_back(interval_field());
        info.figures.push_back({name, unit, meaning, std::move(where), std::move(detail)});
    };
    constexpr Unit rate = Unit::bytes_per_second;
    add("b_eff", rate, "the effective bandwidth", {}, if_known(whole_fields().infos()));
    add("b_eff_per_process", rate, "b_eff over the number of ranks");
    add("b_eff_at_lmax", rate, "with the longest messages");
    add("b_eff_at_lmax_rings", rate, "with the longest messages, rings alone");
    add("latency", Unit::seconds, "of a message of 1 B, rings and random rings");
    add("latency_rings", Unit::seconds, "of a message of 1 B, rings alone");
    add("ping_pong_latency", Unit::seconds, "of a message of 1 B between two ranks");
    add("ping_pong_bandwidth", rate, "between two ranks", {length_field()});
    add("bandwidth_at_length", rate, "of one length", {length_field()}, means_fields().infos());
    add("b_eff_of_method", rate, "of one method alone", {method_field()}, means_fields().infos());
    add("pattern_bandwidth", rate, "mean over the lengths", pattern_place_fields().infos(),
        pattern_fields().infos());
    info.figures.push_back(pairs_info());
    info.figures.push_back(until_ci_info());
    return info;
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::b_eff
