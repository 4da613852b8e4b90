// SPDX-License-Identifier: BSD-3-Clause
// The comparison as lines of the result file and as text for people.
#pragma once

#include <memory>

#include "benchmarks/libraries/runner.hpp"
#include "core/record.hpp"
#include "parallel/session.hpp"

namespace effio::libraries {

Measurement to_measurement(const Cell& cell, const Parameters& parameters, int nodes);
/// What the `run` line holds under "libraries".
Json describe(const Parameters& parameters, const Selection& selection, const ByteCap& cap);

std::unique_ptr<Observer> make_record_view(Recorder& recorder, const Parameters& parameters,
                                           int nodes);
std::unique_ptr<Observer> make_console_view(Console& console, const Parameters& parameters,
                                            const Selection& selection,
                                            const std::string& result_path);

}  // namespace effio::libraries
