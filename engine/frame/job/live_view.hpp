// SPDX-License-Identifier: BSD-3-Clause
// How the root shows what happens now: what the sentinel calls about once a second.
#pragma once

#include <functional>

#include "frame/job/options.hpp"
#include "parallel/progress.hpp"
#include "parallel/session.hpp"

namespace effio {

/// What is in effect, never `automatic`.
Live live_view(const JobOptions& options);

/// The sentinel's `show`: nothing, a line replaced each second, or lines in a log.
std::function<void(const Progress::Snapshot&)> make_show(Live live, Console& console);

}  // namespace effio
