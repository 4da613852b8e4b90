// SPDX-License-Identifier: BSD-3-Clause
// The benchmarks of the engine, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frame/benchmark.hpp"

namespace effio {

using BenchmarkFactory = std::unique_ptr<Benchmark> (*)();

/// Every benchmark of the engine, in the order of the help text. A new one is one more line in
/// registry.cpp.
const std::vector<BenchmarkFactory>& benchmark_registry();

/// Null if there is none of that name.
std::unique_ptr<Benchmark> find_benchmark(const std::string& name);

/// "no benchmark 'iro'; did you mean ior?"
std::string no_benchmark(const char* what, const std::string& word);

}  // namespace effio
