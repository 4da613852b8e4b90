// SPDX-License-Identifier: BSD-3-Clause
#include "core/tick_counter.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace effio {
namespace {

double seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

bool has_constant_rate() {
#if defined(__x86_64__)
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8U)) != 0;
#else
    return false;
#endif
}

}  // namespace

TickReading read_tick_clocks() {
    constexpr int tries = 16;
    TickReading best;
    for (int i = 0; i < tries; ++i) {
        // The bracket is two readings of the raw clock; the others are inside it.
        const double before = seconds_of(CLOCK_MONOTONIC_RAW);
        const std::uint64_t ticks = read_ticks();
        const double monotonic = seconds_of(CLOCK_MONOTONIC);
        const double after = seconds_of(CLOCK_MONOTONIC_RAW);
        const double half = (after - before) / 2;
        if (i == 0 || half < best.within_seconds) best = {ticks, before + half, monotonic, half};
    }
    return best;
}

TickRate rate_between(const TickReading& first, const TickReading& last) {
    const double seconds = last.raw_seconds - first.raw_seconds;
    const auto ticks = static_cast<std::int64_t>(last.ticks - first.ticks);
    if (seconds <= 0 || ticks <= 0) return {};
    return {seconds / static_cast<double>(ticks),
            (first.within_seconds + last.within_seconds) / seconds};
}

bool agree(const TickRate& a, const TickRate& b) {
    if (a.seconds_per_tick <= 0 || b.seconds_per_tick <= 0) return false;
    return std::abs(a.seconds_per_tick / b.seconds_per_tick - 1) <=
           a.relative_error + b.relative_error + tick_rate_tolerance;
}

std::string unusable_ticks(const std::string& kernel_source) {
    if (!has_constant_rate()) return "the processor has no time stamp counter with a constant rate";
    if (kernel_source == "tsc") return {};
    return fmt::format(
        "the kernel's clock source is {}, so the counters of the processors may differ",
        kernel_source.empty() ? "unknown" : kernel_source);
}

}  // namespace effio
