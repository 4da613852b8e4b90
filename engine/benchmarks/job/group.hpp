// SPDX-License-Identifier: BSD-3-Clause
// A group of ranks that runs one benchmark, with a result file, session and sentinel of its own.
#pragma once

#include "benchmarks/benchmark.hpp"
#include "benchmarks/job/options.hpp"
#include "benchmarks/job/world.hpp"
#include "core/options.hpp"

namespace effio {

/// What a group is to run.
struct Task {
    Benchmark& benchmark;
    const JobOptions& options;
    const OptionTable& table;
    const Invocation& invocation;
};

/// Of the sentinels that stand beside the task.
Sentinel::Settings sentinel_settings(const Task& task);

/// Collective over `comm`, the ranks of the group. Runs the task and ends MPI. Returns the agreed
/// exit code.
ExitCode run_group(World& world, Comm& comm, const Task& task);

}  // namespace effio
