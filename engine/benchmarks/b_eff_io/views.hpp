// SPDX-License-Identifier: BSD-3-Clause
// b_eff_io's events as result records and as our own table.
#pragma once

#include <memory>

#include "benchmarks/b_eff_io/result.hpp"
#include "core/fields.hpp"
#include "core/record.hpp"
#include "parallel/session.hpp"

namespace effio::b_eff_io {

/// Writes a measurement per row and file, a figure per average and result.
std::unique_ptr<Observer> make_record_view(Recorder& recorder);
/// Prints a line per row while the run continues, and the table with the verdict at the end.
std::unique_ptr<Observer> make_console_view(Console& console, const std::string& result_path);

/// The members of the `run` line that only this benchmark knows.
Json describe(const Setup& setup);
/// All that is in its results.
ResultInfo result_info();

/// One row as a record, e.g. for tests of the views.
Measurement to_measurement(const RowResult& row, int nodes);

}  // namespace effio::b_eff_io
