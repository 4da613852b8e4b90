// SPDX-License-Identifier: BSD-3-Clause
// A group of ranks that runs one benchmark, with a result file, session and sentinel of its own.
#pragma once

#include "benchmarks/benchmark.hpp"
#include "benchmarks/job/options.hpp"
#include "benchmarks/job/world.hpp"
#include "core/options.hpp"

namespace effio {

/// What a group is to run. The members from `gathering` on belong to one of several groups.
struct Task {
    Benchmark& benchmark;
    const JobOptions& options;
    const OptionTable& table;
    const Invocation& invocation;
    Gathering* gathering = nullptr;
    int first_rank = 0;           ///< of the job
    std::string own_directory{};  ///< made for the run and removed after it if empty; none if empty
    double cap_share = 1;         ///< see Session
};

/// Of the sentinels that stand beside the task.
Sentinel::Settings sentinel_settings(const Task& task);

/// Collective over `comm`, the ranks of the group. Runs the task and ends MPI. Returns the agreed
/// exit code.
ExitCode run_group(World& world, Comm& comm, const Task& task);

}  // namespace effio
