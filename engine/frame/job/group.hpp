// SPDX-License-Identifier: BSD-3-Clause
// A group of ranks that runs one benchmark, with a separate result file, session and sentinel.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "core/options.hpp"
#include "frame/benchmark.hpp"
#include "frame/job/options.hpp"
#include "parallel/world.hpp"

namespace effio {

/// What a group is to run. The members from `gathering` on belong to one of several groups.
struct GroupRun {
    Benchmark& benchmark;
    const JobOptions& options;
    const OptionTable& table;
    const Invocation& invocation;
    Gathering* gathering = nullptr;
    int first_rank = 0;           ///< of the job
    std::string own_directory{};  ///< made for the run and removed after it if empty; none if empty
    double cap_share = 1;         ///< see Session
    int ranks_of_others = 0;      ///< see Session
    /// A further run of the group after the common start of all.
    bool again = false;
    /// The group's clock at the common start: what a first run sets, and further ones count from.
    double* start = nullptr;
    /// What stops the run in order; null: what stops the job.
    std::atomic<bool>* stop = nullptr;
    /// Called ten times a second by the sentinel of the group's root, if set.
    std::function<void()> look{};
};

/// What any run line says. `clock`: as NodeClocks describes it.
Json run_header(const GroupRun& task, const Comm& comm, const Topology& topology, Json clock);

/// Settings of the sentinels that run next to the task.
Sentinel::Settings sentinel_settings(const GroupRun& task);

/// A rank's session with its sentinel, from here on in place of the one that watched before.
class WatchedSession {
  public:
    WatchedSession(World& world, Comm& comm, const GroupRun& task, Results& results);
    Session& session() { return session_; }

  private:
    Live live_;
    Console console_;
    Session session_;
    std::optional<Sentinel> sentinel_;
};

/// How a run ended: the code that all ranks of the group agreed on, and why.
struct RunEnd {
    ExitCode code = ExitCode::done;
    std::string reason;
};

/// Collective over the session's ranks: one complete run, with its `run` line, the common start and
/// its `end` line.
RunEnd run_task(const GroupRun& task, Session& session, const World& world);

/// Collective over `comm`, the ranks of the group. Runs the task and ends MPI. Returns the agreed
/// exit code.
ExitCode run_group(World& world, Comm& comm, const GroupRun& task);

}  // namespace effio
