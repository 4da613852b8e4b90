// SPDX-License-Identifier: BSD-3-Clause
// From a benchmark with its options set to an exit code.
#pragma once

#include "benchmarks/benchmark.hpp"
#include "benchmarks/job/options.hpp"
#include "core/options.hpp"

namespace effio {

/// Prints the plan; no MPI, no I/O.
ExitCode print_plan(const Benchmark& benchmark, const JobOptions& options);

/// Starts MPI, runs the benchmark on all ranks (a group of one), ends MPI. Returns the agreed exit
/// code.
ExitCode run_job(Benchmark& benchmark, const JobOptions& options, const OptionTable& table,
                 const Invocation& invocation);

}  // namespace effio
