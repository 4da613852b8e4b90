// SPDX-License-Identifier: BSD-3-Clause
// `effio-mpi together`: several benchmarks at once, each on separate ranks of one job.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"

namespace effio::together {

ExitCode run_command(const std::vector<std::string>& words);

}  // namespace effio::together
