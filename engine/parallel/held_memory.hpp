// SPDX-License-Identifier: BSD-3-Clause
// Memory that a run takes away from the page cache: touched, and held as long as the object lives.
// It belongs to the process, so whatever ends the process releases it.
#pragma once

#include <cstdint>
#include <functional>

#include "core/error.hpp"
#include "parallel/agree.hpp"
#include "parallel/comm.hpp"
#include "parallel/session.hpp"
#include "parallel/topology.hpp"

namespace effio {

class HeldMemory {
  public:
    HeldMemory() = default;
    HeldMemory(HeldMemory&& other) noexcept;
    HeldMemory& operator=(HeldMemory&& other) noexcept;
    HeldMemory(const HeldMemory&) = delete;
    HeldMemory& operator=(const HeldMemory&) = delete;
    ~HeldMemory();

    /// Takes `bytes` in steps, and fewer where `goes_on` says no before a step; `beat` is called
    /// after each. Out of memory is an environment error.
    static Result<HeldMemory> take(std::int64_t bytes, const std::function<bool()>& goes_on,
                                   const std::function<void()>& beat);
    std::int64_t bytes() const { return held_; }

  private:
    void* place_ = nullptr;
    std::int64_t mapped_ = 0;
    std::int64_t held_ = 0;
};

/// Collective over the session's ranks: the ranks of each node hold `bytes` of its memory together.
/// Refused on all where a node has less available.
Result<HeldMemory> hold_of_node(Session& session, const Topology& topology, std::int64_t bytes);

/// Collective over the session's ranks: the ranks of each node hold what is available of its memory
/// but `rest`, by the node's numbers and those of the control groups; never more, also where others
/// take memory meanwhile. Refused on all where a node has no more than `rest` available.
Result<HeldMemory> hold_all_but(Session& session, const Topology& topology, std::int64_t rest);

}  // namespace effio
