// SPDX-License-Identifier: BSD-3-Clause
// What a run of b_eff would do, by arithmetic.
#pragma once

#include "benchmarks/b_eff/parameters.hpp"
#include "frame/benchmark.hpp"

namespace effio::b_eff {

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input);

}  // namespace effio::b_eff
