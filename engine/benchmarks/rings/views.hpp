// SPDX-License-Identifier: BSD-3-Clause
// The results of the rings benchmark as records and as text; on the root.
#pragma once

#include <string>

#include "benchmarks/rings/result.hpp"
#include "parallel/session.hpp"

namespace effio::rings {

/// A measurement for the pairs and one for each ring.
void record(Recorder& recorder, const LengthResult& length, int ranks, int nodes);
/// The figures.
void record(Recorder& recorder, const Outcomes& all);
/// The tables.
void print(Console& console, const Outcomes& all, const std::string& result_path);

}  // namespace effio::rings
