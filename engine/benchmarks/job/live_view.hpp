// SPDX-License-Identifier: BSD-3-Clause
// How the root shows what happens now: what the sentinel calls about once a second.
#pragma once

#include <functional>
#include <string>

#include "benchmarks/job/options.hpp"
#include "parallel/progress.hpp"
#include "parallel/session.hpp"

namespace effio {

/// "line", "log", "json" or "none": what `auto` means here.
std::string progress_mode(const JobOptions& options);

/// The sentinel's `show`: nothing, a line replaced each second, or lines in a log.
std::function<void(const Progress::Snapshot&)> make_show(const std::string& mode, Console& console);

}  // namespace effio
