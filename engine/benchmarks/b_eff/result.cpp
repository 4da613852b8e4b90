// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/rounds.hpp"
#include "core/stats.hpp"
#include "frame/round_figures.hpp"

namespace effio::b_eff {
namespace {

std::size_t index_of(int number) {
    return static_cast<std::size_t>(number);
}

/// The first pattern of a family, if it is measured.
std::optional<std::size_t> find(const std::vector<Pattern>& patterns, Family family) {
    const auto it = std::find_if(patterns.begin(), patterns.end(),
                                 [&](const Pattern& p) { return p.family == family; });
    if (it == patterns.end()) return {};
    return static_cast<std::size_t>(it - patterns.begin());
}

double over(double numerator, double rate) {
    return rate > 0 ? numerator / rate : 0;
}

}  // namespace

RunResult::RunResult(Setup s)
    : setup(std::move(s)),
      node_steps(setup.patterns.size()),
      best_methods(index_of(setup.parameters.repetitions()),
                   std::vector<int>(setup.patterns.size(), -1)),
      experiments_(index_of(repetitions() * length_count * method_count) * setup.patterns.size()),
      loops_(index_of(repetitions() * length_count * method_count)) {
    for (std::size_t i = 0; i < experiments_.size(); ++i) {
        const Pattern& p = setup.patterns[i / method_count % setup.patterns.size()];
        const int method = static_cast<int>(i % method_count);
        if (!p.has_method(method)) experiments_[i].state = Experiment::State::no_method;
    }
}

std::size_t RunResult::place(int repetition, int length) const {
    return index_of(repetition * length_count + length);
}

Experiment& RunResult::experiment(int repetition, int length, std::size_t pattern, int method) {
    return experiments_.at((place(repetition, length) * pattern_count() + pattern) * method_count +
                           index_of(method));
}

const Experiment& RunResult::experiment(int repetition, int length, std::size_t pattern,
                                        int method) const {
    return experiments_.at((place(repetition, length) * pattern_count() + pattern) * method_count +
                           index_of(method));
}

LoopRow& RunResult::loops(int repetition, int length, int method) {
    return loops_.at(place(repetition, length) * method_count + index_of(method));
}

const LoopRow& RunResult::loops(int repetition, int length, int method) const {
    return loops_.at(place(repetition, length) * method_count + index_of(method));
}

double RunResult::official_time_share() const {
    return loop_seconds /
           (official_repetitions * length_count * method_count * official_loop_seconds);
}

bool RunResult::shortened(int repetition) const {
    for (int method = 0; method < method_count; ++method) {
        if (loops(repetition, length_count - 2, method).cut != LoopRow::Cut::none) return true;
    }
    return false;
}

double RunResult::best(int length, std::size_t pattern, Choice choice) const {
    double best = 0;
    for (int repetition = 0; repetition < repetitions(); ++repetition) {
        if (choice.repetition.value_or(repetition) != repetition) continue;
        for (int method = 0; method < method_count; ++method) {
            if (choice.method.value_or(method) != method) continue;
            const Experiment& c = experiment(repetition, length, pattern, method);
            if (c.has_rate()) best = std::max(best, c.rate);
        }
    }
    return best;
}

double RunResult::pattern_average(std::size_t pattern, Choice choice) const {
    double sum = 0;
    for (int length = 0; length < length_count; ++length) sum += best(length, pattern, choice);
    return sum / length_count;
}

Means effective_bandwidth(const RunResult& run, RunResult::Choice choice) {
    return means_over(run.setup.patterns,
                      [&](std::size_t pattern) { return run.pattern_average(pattern, choice); });
}

Means bandwidth_at(const RunResult& run, int length, RunResult::Choice choice) {
    return means_over(run.setup.patterns,
                      [&](std::size_t pattern) { return run.best(length, pattern, choice); });
}

Summary summarize(const RunResult& run) {
    Summary s;
    const double ranks = run.setup.ranks;
    const int last = length_count - 1;
    s.b_eff = effective_bandwidth(run);
    s.at_lmax = bandwidth_at(run, last);
    s.at_one_byte = bandwidth_at(run, 0);
    s.latency = over(ranks, s.at_one_byte.both);
    s.ring_latency = over(ranks, s.at_one_byte.rings);
    if (const auto pair = find(run.setup.patterns, Family::ping_pong)) {
        // Two messages and two steps a loop: the rate of one message at a time.
        const RunResult::Choice sendrecv{0, {}};
        s.ping_pong_latency = over(1, run.best(0, *pair, sendrecv));
        s.ping_pong_bandwidth = run.best(last, *pair, sendrecv);
    }
    return s;
}

Uncertainty uncertainty(const RunResult& run) {
    Uncertainty u;
    for (int repetition = 0; repetition < run.repetitions(); ++repetition) {
        const double value = effective_bandwidth(run, {{}, repetition}).both;
        if (value > 0) u.by_repetition.push_back(value);
    }
    const Samples samples = samples_of(u.by_repetition);
    if (samples.count() > 0) {
        u.mean = samples.mean();
        u.spread = (samples.max() - samples.min()) / u.mean;
        u.half_width = half_width_of(u.by_repetition);
    }
    // b_eff is a geometric mean: its interval is that of the logarithms, and the random rings
    // enter with the power 1/2.
    Samples logarithms;
    for (std::size_t i = 0; i < run.pattern_count(); ++i) {
        if (run.setup.patterns[i].family != Family::random_ring) continue;
        const double value = run.pattern_average(i);
        if (value > 0) logarithms.add(std::log(value));
    }
    if (logarithms.count() >= RoundsInterval::least)
        u.random_factor = std::exp(logarithms.confidence95() / 2);
    return u;
}

std::vector<Criterion> criteria(const RunResult& run) {
    const Parameters& p = run.setup.parameters;
    std::vector<Criterion> all{
        {fmt::format("{} repetitions", official_repetitions),
         p.repetitions() >= official_repetitions},
        {fmt::format("{} random rings", official_random_patterns),
         p.random_patterns() >= official_random_patterns},
        {fmt::format("loops of {:g} s for each size and method", official_loop_seconds),
         p.loop_seconds() >= official_loop_seconds},
        {"all three methods", p.methods.size() == method_count},
        {"messages over MPI", !p.network.virtual_time()},
        {"every message arrived intact", run.errors == 0},
        {"the run was completed", run.complete},
    };
    if (p.rounds > 1) all.push_back({"one round, not the mean of several", false});
    return all;
}

bool valid(const RunResult& run) {
    const auto all = criteria(run);
    return std::all_of(all.begin(), all.end(), [](const Criterion& c) { return c.reached; });
}

}  // namespace effio::b_eff
