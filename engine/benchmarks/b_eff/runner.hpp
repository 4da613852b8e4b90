// SPDX-License-Identifier: BSD-3-Clause
// The loops of b_eff: repetitions, lengths, patterns, methods (docs/definitions/b-eff.md, Loops).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "benchmarks/b_eff/messages.hpp"
#include "benchmarks/b_eff/pattern_rank.hpp"
#include "benchmarks/b_eff/result.hpp"
#include "frame/benchmark.hpp"
#include "frame/observers.hpp"
#include "frame/run_loop.hpp"
#include "parallel/pace.hpp"

namespace effio::b_eff {

class Runner {
  public:
    /// Observers are called on the session's root only. `run` collects there what is found.
    Runner(Job& job, const ExchangeMaker& exchanges, RunResult& run,
           std::vector<Observer*> observers);

    /// All repetitions. Collective.
    Ending measure();

    /// For later passes that use the same communicator and buffers.
    const Comm& line() const { return line_; }
    Messages& messages() { return messages_; }

  private:
    using PerMethod = std::array<double, method_count>;

    /// Messages that this rank received in an experiment.
    struct Received {
        double errors = 0;
        MessageCounts verified;
    };
    /// What this rank measured at one length, by pattern and method.
    struct RankResult {
        explicit RankResult(std::size_t patterns)
            : seconds(patterns * method_count),
              steps(patterns * method_count),
              received(patterns * method_count) {}
        std::vector<double> seconds;
        std::vector<int> steps;  ///< k of this rank; 0 = not measured or no part in it
        std::vector<Received> received;
    };

    void calibrate(LoopLengths& loops, PerMethod& seconds);
    bool measure_length(int repetition, int length, const LoopLengths& loops, PerMethod& seconds);
    void measure_pattern(std::size_t pattern, int length, std::span<const std::int64_t> loops,
                         RankResult& own);
    double time_loops(PatternRank& rank, Method method, int length, std::int64_t loops,
                      Received& received);
    void loop(PatternRank& rank, Method method, int length, double& errors);
    void count_node_steps(std::size_t pattern, PatternRank& rank);
    bool measures(std::size_t pattern, int method) const;

    void collect(int repetition, int length, std::span<const std::int64_t> loops,
                 const RankResult& own);
    void note_loops(int repetition, int length, std::span<const std::int64_t> loops,
                    const RankResult& own);
    void decide_short_cut(int repetition, int length, LoopLengths& loops);
    bool too_long(int repetition, int length) const;
    int best_method(int repetition, int length, std::size_t pattern) const;
    void copy_to_other_methods(int repetition, int length);
    void copy_last_length(int repetition);
    void begin_step(int repetition, int length);
    void note_wrong(int count, Method method, const Pattern& pattern, double& errors);

    Session& session_;
    int node_;  ///< number of this rank's node
    const ExchangeMaker& exchanges_;
    RunResult& run_;
    const Setup& setup_;
    Observers<Observer> notify_;
    Comm line_;
    Messages messages_;
    Outcome outcome_;                 ///< wrong messages that this rank saw
    std::vector<int> chosen_;         ///< by pattern: the only method to measure, or -1
    std::vector<double> own_rates_;   ///< of this rank at the latest length, by pattern and method
    bool last_length_twice_ = false;  ///< the short-cut leaves two repetitions of the last length
    RunLoop loop_;
};

}  // namespace effio::b_eff
