// SPDX-License-Identifier: BSD-3-Clause
// What is done about the page cache around the phase that reads files, and what is known of it.
#pragma once

#include <optional>

#include "benchmarks/mdtest/measure.hpp"
#include "frame/cold.hpp"
#include "storage/cache_watch.hpp"

namespace effio::mdtest {

/// In other phases, in models, and in runs without barriers (whose ranks never meet) it does
/// nothing.
class ColdRead {
  public:
    /// The references must outlive it.
    ColdRead(const Iteration& iteration, const Phase& phase, Workers& workers,
             const Topology& topology, const std::optional<FileSystem>& file_system);

    bool applies() const { return applies_; }
    /// Collective, if it applies: with --drop-cache all that was written is synced, each rank drops
    /// what it will read, and the counters are looked at.
    Status before();
    /// Collective. Holes are counted in files that an earlier run made, and after the phase: a
    /// look would bring their attributes into memory.
    void after(LocalResult& local);

  private:
    const Iteration& iteration_;
    const Phase& phase_;
    Workers& workers_;
    const Topology& topology_;
    bool applies_;
    Cold cold_;
    CacheWatch watch_;
};

}  // namespace effio::mdtest
