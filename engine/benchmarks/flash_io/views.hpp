// SPDX-License-Identifier: BSD-3-Clause
// FLASH I/O's events as lines of the result file and as text for people.
#pragma once

#include <memory>

#include "benchmarks/flash_io/result.hpp"
#include "parallel/session.hpp"

namespace effio::flash_io {

Measurement to_measurement(const FileRun& run, const Setup& setup);
/// `where` of the means, and of what --until-ci says of them.
Json place_of(const Setup& setup);
/// What the `run` line holds under "flash_io".
Json describe(const Setup& setup);
/// All that is in its results.
ResultInfo result_info();

std::unique_ptr<Observer> make_record_view(Recorder& recorder);
std::unique_ptr<Observer> make_console_view(Console& console);

}  // namespace effio::flash_io
