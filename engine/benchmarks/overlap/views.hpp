// SPDX-License-Identifier: BSD-3-Clause
// What overlap shows: lines of the result file, and tables.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "benchmarks/overlap/runner.hpp"
#include "core/fields.hpp"
#include "core/named.hpp"
#include "parallel/session.hpp"

namespace effio::overlap {

/// Coordinates of a cell.
Json where_of(const Point& point);
/// The point in words: "io_seconds of uring write 1MiB alongside compute work".
std::string text_of(const Point& point, std::string_view figure);
/// The times whose means are figures, and on which --until-ci looks: a share may be 0 and has then
/// no width that is relative to it.
std::array<NamedNumber, 2> timed_figures(const Times& times);

ResultInfo result_info();
/// The benchmark's part of the run line.
Json describe(const std::vector<MethodStorage>& methods, const std::vector<Work>& works,
              const std::vector<std::string>& left_out, const ByteCap& cap);
std::unique_ptr<Observer> make_record_view(Recorder& recorder);
std::unique_ptr<Observer> make_console_view(Console& console, const Parameters& parameters,
                                            const std::string& result_path);

}  // namespace effio::overlap
