// SPDX-License-Identifier: BSD-3-Clause
// What a run of FLASH I/O would write, by arithmetic alone.
#pragma once

#include "benchmarks/flash_io/parameters.hpp"
#include "frame/benchmark.hpp"

namespace effio::flash_io {

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input);

}  // namespace effio::flash_io
