// SPDX-License-Identifier: BSD-3-Clause
// The processor's time stamp counter as a clock.
//
// Reading the counter takes some 10 ns, clock_gettime three times as long. The counter is usable
// where it has one constant rate and all processors of the node agree on it. The processor states
// the first (CPUID leaf 0x80000007, EDX bit 8); the kernel checks the second, and takes its own
// time from the counter only as long as it holds (clock source "tsc").
//
// The rate comes from two readings next to CLOCK_MONOTONIC_RAW, which no one adjusts. A reading is
// off by half of its shortest bracket at most, so the rate is off by the sum of both halves over
// the time in between.
#pragma once

#include <cstdint>
#include <string>

namespace effio {

/// The counter's value now; 0 where there is none.
inline std::uint64_t read_ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/// Counter and clocks at one moment.
struct TickReading {
    std::uint64_t ticks = 0;
    double raw_seconds = 0;        ///< CLOCK_MONOTONIC_RAW
    double monotonic_seconds = 0;  ///< CLOCK_MONOTONIC
    double within_seconds = 0;     ///< how far apart the three moments may be
};
/// The tightest of 16 tries.
TickReading read_tick_clocks();

struct TickRate {
    double seconds_per_tick = 0;
    double relative_error = 0;  ///< at most
};
/// From two readings; a rate of 0 if the counter or the clock did not advance.
TickRate rate_between(const TickReading& first, const TickReading& last);

/// Relative difference of two rates that is no error of reading.
inline constexpr double tick_rate_tolerance = 1e-6;
/// Whether two calibrations differ by no more than their errors and the tolerance.
bool agree(const TickRate& a, const TickRate& b);

/// Why ticks are no clock on this node, in a few words; empty if they are.
/// `kernel_source`: what the kernel takes its time from.
std::string unusable_ticks(const std::string& kernel_source);

/// Seconds of CLOCK_MONOTONIC at a tick. Ranks of a node share one, so that they read one clock.
struct TickScale {
    std::uint64_t origin = 0;
    double origin_seconds = 0;
    double seconds_per_tick = 0;  ///< 0: ticks are not used

    double seconds_at(std::uint64_t ticks) const {
        // Another processor may be some ticks behind the origin.
        return origin_seconds +
               static_cast<double>(static_cast<std::int64_t>(ticks - origin)) * seconds_per_tick;
    }
};

}  // namespace effio
