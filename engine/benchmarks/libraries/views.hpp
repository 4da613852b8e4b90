// SPDX-License-Identifier: BSD-3-Clause
// What the comparison concludes, as lines of the result file and as text for people.
#pragma once

#include "benchmarks/libraries/parameters.hpp"
#include "benchmarks/libraries/result.hpp"
#include "core/fields.hpp"
#include "core/record.hpp"
#include "parallel/session.hpp"

namespace effio::libraries {

void record(Recorder& recorder, const Comparison& all, const Parameters& parameters);
/// The figures that `record` writes.
void add_figures(ResultInfo& info);
void print(Console& console, const Comparison& all, const Parameters& parameters);

}  // namespace effio::libraries
