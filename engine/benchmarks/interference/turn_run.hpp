// SPDX-License-Identifier: BSD-3-Clause
// One turn on this rank: the groups of the turn run their benchmarks from a common start, each at
// least once and until all have, the others wait (docs/definitions/interference.md, A turn).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "benchmarks/interference/summary.hpp"
#include "benchmarks/together/members.hpp"
#include "parallel/world.hpp"

namespace effio::interference {

struct TurnTask {
    const together::Options& options;  ///< of the groups
    Turn turn;
    std::int64_t round = 0;
    /// A directory that is made for the turn: the log of the groups, and
    /// group-N/result.jsonl, of the first run of each.
    std::string place;
    /// What has to be reported before the job ends out of order; any rank, any thread.
    std::function<void(const End& end)> at_abrupt_end;
};

struct TurnOutcome {
    ExitCode code = ExitCode::done;  ///< the worst of the groups'; all ranks have the same
    std::string reason;              ///< on the root of the job, where the turn found one
    bool started = true;
    bool left_open = false;  ///< see Session; of this rank
    TurnDone done;           ///< on the root of the job
};

/// Collective over `all`, the ranks of the job. Does not return if a group ends the job.
TurnOutcome run_turn(World& world, const Comm& all, const TurnTask& task);

}  // namespace effio::interference
