// SPDX-License-Identifier: BSD-3-Clause
#include "frame/job/live_view.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/clock.hpp"
#include "core/json.hpp"

namespace effio {
namespace {

/// Seconds until the bytes of this step are moved, if it continues as until now; nothing if
/// unknown.
std::optional<double> left_in_step(const Progress::Snapshot& s, double in_step) {
    if (s.step.planned_bytes <= 0 || s.bytes_in_step <= 0) return {};
    const auto left =
        static_cast<double>(std::max<std::int64_t>(s.step.planned_bytes - s.bytes_in_step, 0));
    double seconds = left * in_step / static_cast<double>(s.bytes_in_step);
    if (s.step.scheduled_seconds > 0) {
        seconds = std::min(seconds, std::max(s.step.scheduled_seconds - in_step, 0.0));
    }
    return seconds;
}

/// Fraction of the whole run that is finished now, as far as the step says: by its bytes or by its
/// time, whichever ends it first.
double done_now(const Progress::Snapshot& s, double in_step) {
    double of_step = 0;
    if (s.step.planned_bytes > 0) {
        of_step = static_cast<double>(s.bytes_in_step) / static_cast<double>(s.step.planned_bytes);
    }
    if (s.step.scheduled_seconds > 0) {
        of_step = std::max(of_step, in_step / s.step.scheduled_seconds);
    }
    return std::min(1.0, s.step.plan_done + s.step.plan_share * std::min(of_step, 1.0));
}

/// The live view in one line: what is done now, how fast, and how long it will still take.
std::string status_text(const Progress::Snapshot& s) {
    if (s.step_started <= 0) return fmt::format("[  0 %] set-up ({})", s.call);
    const double in_step = Clock::monotonic_seconds() - s.step_started;
    const double rate =
        in_step > 0 ? static_cast<double>(s.bytes_in_step) * s.step.ranks / in_step : 0;
    std::string text = fmt::format("[{:3.0f} %] {}", 100 * done_now(s, in_step), s.step.title);
    if (s.step.scheduled_seconds > 0) {
        text += fmt::format(", {:.0f} of {} scheduled", in_step,
                            format_duration(s.step.scheduled_seconds));
    } else {
        text += fmt::format(", {:.0f} s", in_step);
    }
    if (s.bytes_in_step > 0) text += fmt::format(", about {}", format_rate(rate));
    if (const auto left = left_in_step(s, in_step); left) {
        text += fmt::format(", {} of {}, {} left in it",
                            format_size(static_cast<double>(s.bytes_in_step) * s.step.ranks),
                            format_size(static_cast<double>(s.step.planned_bytes) * s.step.ranks),
                            format_duration(*left));
    }
    if (s.step.plan_seconds_left > 0) {
        text += fmt::format(", {} of the plan left", format_duration(s.step.plan_seconds_left));
    }
    return text + fmt::format(" ({})", s.call);
}

std::string status_json(const Progress::Snapshot& s) {
    const double in_step = Clock::monotonic_seconds() - s.step_started;
    return json_line(
        Json{{"effio_progress", Json{{"title", s.step.title},
                                     {"path", s.step.path},
                                     {"call", s.call},
                                     {"step_seconds", in_step},
                                     {"step_scheduled_seconds", s.step.scheduled_seconds},
                                     {"step_bytes", s.bytes_in_step * s.step.ranks},
                                     {"step_planned_bytes", s.step.planned_bytes * s.step.ranks},
                                     {"plan_done_fraction", done_now(s, in_step)},
                                     {"plan_seconds_left", s.step.plan_seconds_left}}}});
}

}  // namespace

Live live_view(const JobOptions& options) {
    if (options.progress != Live::automatic) return options.progress;
    if (options.quiet) return Live::none;
    return isatty(STDERR_FILENO) != 0 ? Live::line : Live::log;
}

std::function<void(const Progress::Snapshot&)> make_show(Live live, Console& console) {
    if (live == Live::none) return {};
    if (live == Live::json) {
        return [&console](const Progress::Snapshot& s) { console.status(status_json(s)); };
    }
    if (live == Live::line) {
        return [&console](const Progress::Snapshot& s) { console.status(status_text(s)); };
    }
    constexpr int log_every = 10;  // ticks of a second: a log is read later
    return [&console, tick = 0](const Progress::Snapshot& s) mutable {
        if (++tick % log_every == 0) console.status(status_text(s));
    };
}

}  // namespace effio
