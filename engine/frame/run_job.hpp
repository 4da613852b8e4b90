// SPDX-License-Identifier: BSD-3-Clause
// From a benchmark with its options set to an exit code.
#pragma once

#include <cstdio>
#include <string>

#include "core/options.hpp"
#include "frame/benchmark.hpp"
#include "frame/job/options.hpp"

namespace effio {

/// The benchmark's options and those of any job; it refers to both.
OptionTable table_of(Benchmark& benchmark, JobOptions& options);

/// The plan for programs, by --plan-… of the options; no MPI, no I/O.
Result<Json> plan_data(const Benchmark& benchmark, const JobOptions& options);
/// Prints the plan; no MPI, no I/O.
ExitCode print_plan(const Benchmark& benchmark, const JobOptions& options);

/// Prints why nothing is run, and returns the error's code. What is wrong on all ranks, the first
/// rank says. An error of this rank alone (`error.rank`) it says itself, and it ends the job.
ExitCode refuse(std::FILE* where, const Error& error, const std::string& text);

/// Starts MPI, runs the benchmark on all ranks (a group of one), ends MPI. Returns the agreed exit
/// code.
ExitCode run_job(Benchmark& benchmark, const JobOptions& options, const OptionTable& table,
                 const Invocation& invocation);

}  // namespace effio
