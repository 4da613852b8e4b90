// SPDX-License-Identifier: BSD-3-Clause
// One phase: what a rank does between the barriers, and what all ranks make of it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "benchmarks/mdtest/result.hpp"
#include "benchmarks/mdtest/worker.hpp"
#include "parallel/agree.hpp"
#include "parallel/common_clock.hpp"
#include "parallel/worker_threads.hpp"

namespace effio::mdtest {

using Workers = std::vector<std::unique_ptr<Worker>>;

/// A phase as one rank saw it. Seconds count from its own start.
struct LocalResult {
    const Phase* phase = nullptr;
    double late = 0;   ///< its start after the common one, which is the first rank's
    double work = 0;   ///< to the end of its last call
    double sync = 0;   ///< of the file system
    double hook = 0;   ///< of the command after the phase
    double total = 0;  ///< to after the closing barrier
    double ended = 0;  ///< when that was, by the session's clock
    std::optional<Wall> wall;
    std::int64_t operations = 0;
    std::int64_t failed = 0;
    std::int64_t bytes = 0;
    std::int64_t entries = 0;
    std::int64_t found = 0;
    std::optional<std::int64_t>
        expected;  ///< this rank's own files that the ranks together should find
    std::int64_t verified_bytes = 0;
    std::int64_t of_timed_reads = 0;  ///< of them, compared where the timed call put them
    Histogram calls;
    TimeSeries over_time = TimeSeries::finely();
    std::optional<CacheEvidence> cache;  ///< of the phase that reads; the same on all ranks
    StopReason stopped = StopReason::count;
    bool hook_failed = false;
    Outcome outcome;
};

/// The clock runs from after a barrier to after the next one; in between are the calls, the sync
/// and the command of --run-after-phase if requested, and the stonewall's two reductions. Without
/// barriers it runs from the rank's own first call to the end of its last one.
LocalResult measure_phase(const Iteration& iteration, const Phase& phase, CommonClock& common,
                          Workers& workers, WorkerThreads& threads);

/// A command of the user's around a phase, on this rank.
Status run_hook(const Iteration& iteration, const Phase& phase, const std::string& command);

/// Untimed: the calls of the phase just measured go to a file of this rank (--save-calls).
Status save_calls(const Iteration& iteration, const Phase& phase, const Workers& workers);

/// Untimed: every rank compares what its timed reads left in memory, and reads the other files of
/// its phase to compare them; adds to `local`.
void verify_phase(const Iteration& iteration, const Phase& phase, Workers& workers,
                  WorkerThreads& threads, LocalResult& local);

/// Untimed: what the ranks together must have found; adds to `local`.
void expect_finds(const Iteration& iteration, LocalResult& local);

/// Collective.
PhaseResult publish(const Iteration& iteration, const LocalResult& local, int nodes);

/// Collective: the items of a kind that are in the trees.
Result<std::int64_t> count_on_disk(const Iteration& iteration, ItemKind thing);

}  // namespace effio::mdtest
