// SPDX-License-Identifier: BSD-3-Clause
// What a run of IOR would do, by arithmetic.
#pragma once

#include "benchmarks/ior/parameters.hpp"
#include "frame/benchmark.hpp"

namespace effio::ior {

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input);

}  // namespace effio::ior
