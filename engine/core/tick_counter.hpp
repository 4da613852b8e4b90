// SPDX-License-Identifier: BSD-3-Clause
// The processor's time stamp counter as a clock.
//
// Reading the counter takes about 10 ns, clock_gettime three times as long. The counter is usable
// if it has a constant rate and all processors of the node show the same value. The processor
// reports the first (CPUID leaf 0x80000007, EDX bit 8). The kernel checks the second: it uses the
// counter as its own clock source ("tsc") only while that is true.
//
// The rate is computed from two readings of the counter and of CLOCK_MONOTONIC_RAW, which is never
// adjusted. The error of a reading is at most half of its shortest bracket, so the error of the
// rate is at most the sum of both halves divided by the time between the readings.
#pragma once

#include <cstdint>
#include <string>

namespace effio {

/// The counter's current value; 0 on processors without one.
inline std::uint64_t read_ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/// Counter and clocks at the same time.
struct TickReading {
    std::uint64_t ticks = 0;
    double raw_seconds = 0;        ///< CLOCK_MONOTONIC_RAW
    double monotonic_seconds = 0;  ///< CLOCK_MONOTONIC
    double within_seconds = 0;     ///< largest distance between the three readings
};
/// The reading with the shortest bracket of 16 attempts.
TickReading read_tick_clocks();

struct TickRate {
    double seconds_per_tick = 0;
    double relative_error = 0;  ///< upper bound
};
/// The rate between two readings; 0 if the counter or the clock did not advance.
TickRate rate_between(const TickReading& first, const TickReading& last);

/// Relative difference of two rates that is accepted in addition to their errors.
inline constexpr double tick_rate_tolerance = 1e-6;
/// Whether two calibrations differ by no more than their errors and the tolerance.
bool agree(const TickRate& a, const TickRate& b);

/// Why the counter is not usable as a clock on this node; empty if it is usable. `kernel_source` is
/// the kernel's clock source.
std::string unusable_ticks(const std::string& kernel_source);

/// Converts ticks to seconds of CLOCK_MONOTONIC. The ranks of a node share one scale, so that they
/// read the same clock.
struct TickScale {
    std::uint64_t origin = 0;
    double origin_seconds = 0;
    double seconds_per_tick = 0;            ///< 0: the counter is not used
    std::uint64_t nanoseconds_by_2_60 = 0;  ///< of a tick, times 2^60: see set_nanoseconds

    /// For counters with more than 62.5 MHz (16 ns would not fit), which all of them have.
    void set_nanoseconds() {
        constexpr double two_to_60 = 1152921504606846976.0;
        nanoseconds_by_2_60 = static_cast<std::uint64_t>(seconds_per_tick * 1e9 * two_to_60);
    }
    /// Nanoseconds in this many ticks (less than 2^59), rounded; 0 if another processor's counter
    /// is behind the one that was read first. A single product, of which the upper half counts.
    std::uint64_t nanoseconds_in(std::uint64_t ticks) const {
        if (static_cast<std::int64_t>(ticks) < 0) [[unlikely]]
            return 0;
        __extension__ using Wide = unsigned __int128;
        constexpr std::uint64_t half = std::uint64_t{1} << 63U;
        return static_cast<std::uint64_t>((Wide{ticks << 4U} * nanoseconds_by_2_60 + half) >> 64U);
    }

    double seconds_at(std::uint64_t ticks) const {
        // Another processor may be some ticks behind the origin.
        return origin_seconds +
               static_cast<double>(static_cast<std::int64_t>(ticks - origin)) * seconds_per_tick;
    }
};

}  // namespace effio
