// SPDX-License-Identifier: BSD-3-Clause
// For programs in which the engine and a bare loop take turns: a session without an engine around
// it. Such a program prints a line a figure and turn, "NAME OURS THEIRS".
#pragma once

#include <atomic>
#include <cstdio>
#include <string>

#include "parallel/session.hpp"

namespace beside {

/// Calls `use(session)`, which returns an exit code; 2 if the directory takes no result file.
template <class Use>
int with_session(const std::string& directory, Use&& use) {
    effio::Clock clock;
    effio::Comm comm = effio::Comm::world(clock);
    auto results = effio::Results::open(comm, directory, "beside");
    if (!results) return 2;
    effio::Progress progress;
    effio::Console console(false, false);
    const std::atomic<bool> never{false};
    effio::Session session(clock, comm, progress, **results, console, never);
    session.world_rank = comm.rank();
    return use(session);
}

}  // namespace beside
