// SPDX-License-Identifier: BSD-3-Clause
// What a run of b_eff_io would do, by arithmetic alone.
#pragma once

#include "benchmarks/b_eff_io/parameters.hpp"
#include "frame/benchmark.hpp"

namespace effio::b_eff_io {

/// Assumes that each byte takes 1/rate and nothing else takes time.
Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input);

}  // namespace effio::b_eff_io
