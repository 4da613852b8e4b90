// SPDX-License-Identifier: BSD-3-Clause
// Latency and bandwidth of pairs of ranks, one pair at a time: which link or node is slow. Beyond
// b_eff's definition, and the only thing here whose memory (on the root) grows with the pairs.
#pragma once

#include <optional>
#include <vector>

#include "benchmarks/b_eff/messages.hpp"
#include "benchmarks/b_eff/parameters.hpp"
#include "core/fields.hpp"
#include "frame/benchmark.hpp"
#include "parallel/agree.hpp"

namespace effio::b_eff {

/// All pairs of `ranks` in rounds in which each rank has at most one partner (the circle method of
/// tournaments): P-1 rounds, or P with one rank left out of each.
class Tournament {
  public:
    explicit Tournament(int ranks) : ranks_(ranks), places_(ranks + ranks % 2) {}
    int rounds() const { return places_ - 1; }
    int pairs_per_round() const { return ranks_ / 2; }
    /// Empty in the round that leaves the rank out.
    std::optional<int> partner(int rank, int round) const;

  private:
    int ranks_;
    int places_;  ///< an even number; the last place may be empty
};

struct PairValue {
    int low = 0;  ///< the lower rank
    int high = 1;
    double latency = 0;    ///< seconds of a message of 1 B, half of a round trip
    double bandwidth = 0;  ///< bytes per second, one direction at a time
};

struct PairsResult {
    std::vector<PairValue> pairs;   ///< on the root
    std::vector<int> node_of_rank;  ///< on the root
    std::int64_t pairs_in_all = 0;
    int rounds = 0;
    std::int64_t bytes = 0;  ///< of the messages for the bandwidth
    std::int64_t errors = 0;
    MessageCounts verified;  ///< of all ranks
    bool interrupted = false;
    bool sampled() const { return static_cast<std::int64_t>(pairs.size()) < pairs_in_all; }
};

/// Median, smallest and largest of the pairs within nodes, or of those between nodes.
struct PairClass {
    std::int64_t pairs = 0;
    Spread latency;    ///< the mean is the median here
    Spread bandwidth;  ///< likewise
};
PairClass pair_class(const PairsResult& result, bool within);

/// A rank whose median bandwidth, each pair relative to the median of its class, is below half.
struct SlowRank {
    int rank = 0;
    double relative_bandwidth = 1;
};
std::vector<SlowRank> slow_ranks(const PairsResult& result);
/// Pairs of less than half the median bandwidth of their class, the slowest first.
std::vector<PairValue> slow_pairs(const PairsResult& result);

/// Collective. The best of three measurements of each pair. `outcome` gets wrong messages.
PairsResult measure_pairs(Job& job, const ExchangeMaker& exchanges, const Parameters& parameters,
                          std::uint32_t seed, Outcome& outcome);

FigureInfo pairs_info();
/// The figures and the table on the root.
void report_pairs(Session& session, const PairsResult& result);

}  // namespace effio::b_eff
