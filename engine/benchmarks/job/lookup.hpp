// SPDX-License-Identifier: BSD-3-Clause
// From the words of a command line to a benchmark and its options.
#pragma once

#include <memory>
#include <string>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/job/options.hpp"
#include "core/options.hpp"

namespace effio {

/// Null if there is none of that name.
std::unique_ptr<Benchmark> find_benchmark(const std::string& name);

/// "no benchmark 'iro'; did you mean ior?"
std::string no_benchmark(const char* what, const std::string& word);

/// The benchmark's options and those of any job; it refers to both.
OptionTable table_of(Benchmark& benchmark, JobOptions& options);

}  // namespace effio
