// SPDX-License-Identifier: BSD-3-Clause
// What a run of b_eff finds out, and how it becomes one number (docs/definitions/b-eff.md, The
// result). The root's is complete; its size does not grow with the number of ranks. Bandwidths in
// bytes per second.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/b_eff/definition.hpp"
#include "benchmarks/b_eff/parameters.hpp"
#include "core/error.hpp"
#include "core/record.hpp"
#include "core/stats.hpp"
#include "frame/criterion.hpp"
#include "frame/observers.hpp"
#include "frame/ring_patterns/kept_messages.hpp"
#include "parallel/system.hpp"

namespace effio::b_eff {

/// One experiment: a pattern, length, method and repetition.
struct Experiment {
    enum class State {
        missing,  ///< not (yet) measured, and no value
        measured,
        copied,     ///< the best method's or an earlier repetition's value, by the short-cut
        no_method,  ///< the pattern does not know this method
    };
    State state = State::missing;
    std::int64_t loops = 0;
    Spread process_rate;      ///< L * loops * k / time of the ranks that took part
    Spread seconds;           ///< of the timed loops of these ranks
    double rate = 0;          ///< of all: smallest of process_rate * messages / k
    std::int64_t errors = 0;  ///< wrong messages, all ranks
    MessageCounts verified;   ///< of all ranks
    std::string invalid;      ///< why there is no rate; empty otherwise

    bool has_rate() const {
        return (state == State::measured || state == State::copied) && invalid.empty();
    }
};

/// The loops of one method at one length in one repetition, on the root.
struct LoopRow {
    enum class Cut { none, best_method, fewer_repetitions };
    bool measured = false;
    std::int64_t loops = 0;
    double seconds = 0;           ///< of all patterns' timed loops
    double shortest_pattern = 0;  ///< seconds
    double longest_pattern = 0;
    Cut cut = Cut::none;
};

struct Setup {
    Parameters parameters;
    int ranks = 2;
    int nodes = 1;
    std::int64_t memory_mib = 0;  ///< per process
    std::int64_t lmax = 0;
    MessageLengths lengths{1 << 20};
    std::vector<Pattern> patterns;
    std::vector<int> grid_2d;
    std::vector<int> grid_3d;
    std::uint32_t seed = 0;
    Uname uname;
    std::string date;  ///< as ctime prints it
};

/// Nominal messages of a pattern by the nodes of sender and receiver.
struct NodeSteps {
    std::int64_t within = 0;
    std::int64_t between = 0;
};

class RunResult {
  public:
    explicit RunResult(Setup s);

    Setup setup;
    std::vector<NodeSteps> node_steps;           ///< by pattern
    std::vector<std::vector<int>> best_methods;  ///< [repetition][pattern] of the short-cut; or -1
    double loop_seconds = 0;  ///< the measurement loop, largest of the ranks, of all rounds so far
    int round = 0;            ///< which one this is
    std::int64_t rounds_expected = 1;  ///< as it looks now
    std::int64_t errors = 0;
    MessageCounts verified;  ///< of all experiments
    bool complete = false;

    /// Share of an official run's loops: repetitions, lengths and methods of half a second each.
    double official_time_share() const;
    int repetitions() const { return setup.parameters.repetitions(); }
    std::size_t pattern_count() const { return setup.patterns.size(); }
    Experiment& experiment(int repetition, int length, std::size_t pattern, int method);
    const Experiment& experiment(int repetition, int length, std::size_t pattern, int method) const;
    LoopRow& loops(int repetition, int length, int method);
    const LoopRow& loops(int repetition, int length, int method) const;
    bool uses(int method) const { return setup.parameters.uses(static_cast<Method>(method)); }
    /// The short-cut was taken in this repetition.
    bool shortened(int repetition) const;

    /// Which experiments a maximum runs over; all where nothing is named.
    struct Choice {
        std::optional<int> method;
        std::optional<int> repetition;
    };
    /// The best of the chosen experiments; 0 where there is none with a rate.
    double best(int length, std::size_t pattern, Choice choice = {}) const;
    /// b(pat): the mean over the lengths of the best.
    double pattern_average(std::size_t pattern, Choice choice = {}) const;

  private:
    std::size_t place(int repetition, int length) const;

    std::vector<Experiment> experiments_;
    std::vector<LoopRow> loops_;
};

/// Geometric means over the rings, over the random rings, and of these two; 0 where one of their
/// members is 0.
struct Means {
    double rings = 0;
    double random = 0;
    double both = 0;
};
/// `value` of each pattern that counts.
template <class Value>
Means means_over(const std::vector<Pattern>& patterns, Value&& value);

/// The official way, or with one method or repetition alone.
Means effective_bandwidth(const RunResult& run, RunResult::Choice choice = {});
/// Mean bandwidths at one length.
Means bandwidth_at(const RunResult& run, int length, RunResult::Choice choice = {});

/// The results in addition to b_eff. Seconds and bytes per second; 0 where not measured.
struct Summary {
    Means b_eff;
    Means at_lmax;
    Means at_one_byte;
    double latency = 0;       ///< rings and random: P / b at 1 B
    double ring_latency = 0;  ///< rings alone: P / b at 1 B
    double ping_pong_latency = 0;
    double ping_pong_bandwidth = 0;  ///< at Lmax, one direction at a time
};
Summary summarize(const RunResult& run);

/// How far the number can be trusted, beyond the original.
struct Uncertainty {
    std::vector<double> by_repetition;  ///< b_eff of each repetition alone
    double mean = 0;
    double spread = 0;  ///< (largest - smallest) / mean of these
    /// Half of the 95 % interval of their mean; empty below five.
    std::optional<double> half_width = {};
    /// The same for the choice of the random rings: b_eff times or over this factor.
    std::optional<double> random_factor;
};
Uncertainty uncertainty(const RunResult& run);

/// The rules of official runs.
std::vector<Criterion> criteria(const RunResult& run);
bool valid(const RunResult& run);

/// A length is finished: its experiments and loop rows are in the result.
struct LengthDone {
    int repetition = 0;
    int length = 0;
};

class Observer : public Interface {
  public:
    virtual void start(const Setup&) {}
    virtual void length(const RunResult&, LengthDone) {}
    /// All repetitions of a round are complete.
    virtual void round_end(const RunResult&) {}
    /// The run is over; not called when the job had to be ended.
    virtual void end(const RunResult&) {}
};

template <class Value>
Means means_over(const std::vector<Pattern>& patterns, Value&& value) {
    std::vector<double> rings;
    std::vector<double> random;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (patterns[i].family == Family::ring) rings.push_back(value(i));
        if (patterns[i].family == Family::random_ring) random.push_back(value(i));
    }
    const auto mean = [](const std::vector<double>& values) {
        const double m = geometric_mean(values);
        return m > 0 ? m : 0.0;
    };
    Means m{mean(rings), mean(random), 0};
    m.both = std::sqrt(m.rings * m.random);
    return m;
}

}  // namespace effio::b_eff
