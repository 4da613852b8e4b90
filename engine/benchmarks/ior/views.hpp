// SPDX-License-Identifier: BSD-3-Clause
// IOR's events as result records and as our own table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/ior/result.hpp"
#include "core/fields.hpp"
#include "core/record.hpp"
#include "frame/rank_csv.hpp"
#include "parallel/agree.hpp"
#include "parallel/session.hpp"

namespace effio::ior {

/// Writes a measurement per phase; at the end figures of each access and transfer size over the
/// repetitions: bandwidth (mean, with maximum, minimum, spread) and, where requested, the steady
/// rate.
std::unique_ptr<Observer> make_record_view(Recorder& recorder);
/// Prints a line per phase while the run continues, and a summary at the end.
std::unique_ptr<Observer> make_console_view(Console& console, const std::string& result_path);

/// Adds a line for each rank of a phase, with the columns of the header. After a failure `outcome`
/// holds the first, and nothing more is written. Both must outlive the view.
extern const char* const rank_csv_header;
std::unique_ptr<Observer> make_rank_csv_view(RankCsv& file, Outcome& outcome);

/// The member of the `run` line that only this benchmark knows.
Json describe(const Setup& setup);
/// All that is in its results.
ResultInfo result_info();

Measurement to_measurement(const PhaseResult& phase);

/// The rates (B/s) of the valid phases of one access and transfer size, in their order.
std::vector<double> rates_of(const RunResult& run, Access access, std::int64_t transfer);

}  // namespace effio::ior
