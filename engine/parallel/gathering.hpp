// SPDX-License-Identifier: BSD-3-Clause
// Where the groups of a job that runs several benchmarks meet: before they measure and at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "parallel/comm.hpp"
#include "parallel/neighbors.hpp"
#include "parallel/session.hpp"

namespace effio {

class Gathering {
  public:
    /// `all`: the ranks of the job. `at_the_end` is called on its root when all groups have ended
    /// in order; `at_call_off` on the root of a group that leaves because another one has ended the
    /// job.
    Gathering(Comm all, Neighbors& neighbors, std::function<void()> at_the_end,
              std::function<void()> at_call_off = {});
    Gathering(const Gathering&) = delete;
    Gathering& operator=(const Gathering&) = delete;
    ~Gathering();

    Neighbors& neighbors() { return neighbors_; }

    /// Collective over the job, before sessions.
    ExitCode worst(ExitCode mine) const;

    /// Collective over the job: waits until all groups are ready to measure, or until one of them
    /// has ended the job.
    void start(Session& session);

    struct Whole {
        ExitCode code = ExitCode::done;
        bool left_open = false;  ///< on any rank, see Session
    };
    /// Collective over the job: waits until all groups are done, however long that takes: each has
    /// a separate sentinel. Leaves the process if one of them has ended the job.
    Whole finish(Session& session, ExitCode mine);

    /// Before MPI ends.
    void release() { all_.reset(); }

  private:
    /// A reduction that stays open if the others never come.
    struct Meeting;

    /// Waits for all groups. If one of them has ended the job instead: what `then` gives on the
    /// group's root.
    std::optional<int> meet(Session& session, std::int64_t& bits, const std::function<int()>& then);

    std::optional<Comm> all_;
    Neighbors& neighbors_;
    std::function<void()> at_the_end_;
    std::function<void()> at_call_off_;
    std::vector<std::unique_ptr<Meeting>> meetings_;
};

}  // namespace effio
