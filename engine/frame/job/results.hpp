// SPDX-License-Identifier: BSD-3-Clause
// Where the result file of a benchmark goes.
#pragma once

#include <memory>

#include "frame/benchmark.hpp"
#include "frame/job/options.hpp"
#include "parallel/results.hpp"

namespace effio {

/// Collective over the ranks of the benchmark. On a classic command line the benchmark runs
/// wherever the original would, if need be without a result file.
Result<std::unique_ptr<Results>> open_results(const Comm& comm, const Benchmark& benchmark,
                                              const JobOptions& options,
                                              const Invocation& invocation);

}  // namespace effio
