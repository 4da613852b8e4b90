// SPDX-License-Identifier: BSD-3-Clause
// A session of all ranks of a test program, without result file, screen or sentinel.
#pragma once

#include <atomic>

#include "parallel/session.hpp"

namespace effio {

struct TestSession {
    explicit TestSession(Clock::Kind kind = Clock::Kind::real)
        : clock(kind),
          comm(Comm::world(clock)),
          session(clock, comm, progress, results, console, stop) {
        session.world_rank = comm.rank();
    }

    Clock clock;
    Comm comm;
    Progress progress;
    Results results;
    Console console{false, false};
    std::atomic<bool> stop{false};
    Session session;
};

}  // namespace effio
