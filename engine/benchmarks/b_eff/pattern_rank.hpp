// SPDX-License-Identifier: BSD-3-Clause
// A pattern while it is measured: its communicator and exchange, made before and freed after it, so
// that no more than one order of all ranks is in memory at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "benchmarks/b_eff/definition.hpp"
#include "frame/network_options.hpp"
#include "frame/ring_patterns/message_stamps.hpp"
#include "parallel/comm.hpp"

namespace effio::b_eff {

/// This rank in a pattern: its partners, and how it exchanges messages with them.
class PatternRank {
  public:
    /// Collective over `world`. `line` is the periodic 1-D communicator of all ranks. What the
    /// methods need is made here, outside any timed interval.
    PatternRank(const Comm& world, const Comm& line, const Pattern& pattern, std::uint32_t seed,
                const ExchangeMaker& exchanges, std::span<const Method> methods);
    PatternRank(const PatternRank&) = delete;
    PatternRank& operator=(const PatternRank&) = delete;

    const Pattern& pattern() const { return pattern_; }
    /// Place of this rank in the pattern, as its partners count; -1 if it has no part in it.
    int position() const { return position_; }
    /// The steps of this rank; none if it is idle.
    std::span<const Partners> partners() const { return partners_; }
    /// MPI_Alltoallv is also called by idle ranks of the communicator.
    bool calls(Method method) const {
        return exchange_ != nullptr && (!partners_.empty() || method == Method::alltoallv);
    }
    Exchange& exchange() { return *exchange_; }
    /// The node of the sender of each step, -1 where nothing is received; sent in the steps
    /// themselves. All ranks with steps call it, each with its own node.
    std::vector<SureNumber> partner_nodes(int node);

  private:
    const Pattern& pattern_;
    std::optional<Comm> own_;
    int position_ = -1;
    std::unique_ptr<Exchange> exchange_;
    std::vector<Partners> partners_;
};

}  // namespace effio::b_eff
