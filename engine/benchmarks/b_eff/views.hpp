// SPDX-License-Identifier: BSD-3-Clause
// b_eff's events as result records and as our own tables.
#pragma once

#include <memory>

#include "benchmarks/b_eff/result.hpp"
#include "core/fields.hpp"
#include "core/record.hpp"
#include "parallel/session.hpp"

namespace effio::b_eff {

/// Writes a measurement for each experiment, a figure for each average and result.
std::unique_ptr<Observer> make_record_view(Recorder& recorder);
/// Prints a line for each length while the run continues, and the tables at the end.
std::unique_ptr<Observer> make_console_view(Console& console, const std::string& result_path);

/// The members of the `run` line that only this benchmark knows.
Json describe(const Setup& setup);
/// All that is in its results.
ResultInfo result_info();

}  // namespace effio::b_eff
