// SPDX-License-Identifier: BSD-3-Clause
// Real and virtual time.
//
// A real clock reads CLOCK_MONOTONIC, or the processor's time stamp counter where that is reliable
// (core/tick_counter.hpp). A virtual clock moves only when it is advanced: the `sim` backend adds
// the cost that its model gives an operation, and collective calls join the clocks of all ranks.
// All code that measures takes its Clock by reference, so it works with both.
#pragma once

#include <ctime>

#include "core/tick_counter.hpp"

namespace effio {

/// Seconds as nanoseconds, rounded; 0 below 0. Correct below 2^53 ns.
inline std::uint64_t nanoseconds_of(double seconds) {
    // Runs for timed calls: a rounding function would cost as much as everything else in them.
    // NOLINTNEXTLINE(bugprone-incorrect-roundings)
    return seconds <= 0 ? 0 : static_cast<std::uint64_t>(seconds * 1e9 + 0.5);
}

/// When a timed call started.
struct CallStart {
    std::uint64_t ticks = 0;  ///< where the clock counts ticks
    double seconds = 0;       ///< where it does not
};

class Clock {
  public:
    enum class Kind { real, virtual_time };

    explicit Clock(Kind kind = Kind::real) : kind_(kind) {}
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;

    bool is_virtual() const { return kind_ == Kind::virtual_time; }

    /// Seconds since an arbitrary start that is fixed for this clock.
    double now() const {
        if (scale_.seconds_per_tick > 0) [[likely]]
            return scale_.seconds_at(read_ticks());
        if (is_virtual()) [[unlikely]]
            return virtual_seconds_;
        return monotonic_seconds();
    }

    /// A call that is timed into a histogram starts now.
    [[gnu::always_inline]] CallStart start_call() const {
        if (scale_.nanoseconds_by_2_60 != 0) [[likely]]
            return {read_ticks(), 0};
        return {0, now()};
    }
    /// Nanoseconds since then. Ticks are converted by an integer product: conversions to and from
    /// floating point would take as long as reading the counter.
    [[gnu::always_inline]] std::uint64_t nanoseconds_since(const CallStart& start) const {
        if (scale_.nanoseconds_by_2_60 != 0) [[likely]]
            return scale_.nanoseconds_in(read_ticks() - start.ticks);
        return nanoseconds_of(now() - start.seconds);
    }

    /// Real clocks only: from now on now() reads the processor's time stamp counter.
    void count_ticks(const TickScale& scale) {
        scale_ = scale;
        scale_.set_nanoseconds();
    }
    bool counts_ticks() const { return scale_.seconds_per_tick > 0; }
    const TickScale& tick_scale() const { return scale_; }

    /// Virtual clocks only: time passes on this rank.
    void advance(double seconds) { virtual_seconds_ += seconds; }

    /// Virtual clocks only: this rank waits until `seconds`, if that is ahead.
    void wait_until(double seconds) {
        if (seconds > virtual_seconds_) virtual_seconds_ = seconds;
    }

    /// Virtual seconds that a barrier, broadcast or reduction adds to the latest rank's time.
    double collective_cost() const { return collective_cost_; }
    void set_collective_cost(double seconds) { collective_cost_ = seconds; }

    static double monotonic_seconds() {
        timespec t{};
        clock_gettime(CLOCK_MONOTONIC, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }

    /// The smallest difference between two readings in seconds, by trying; 0 for virtual time.
    double resolution() const;

  private:
    Kind kind_;
    TickScale scale_;
    double virtual_seconds_ = 0;
    double collective_cost_ = 0;
};

/// Adds the time from construction to destruction to a counter of seconds.
class Lap {
  public:
    Lap(const Clock& clock, double& total) : clock_(clock), total_(total), start_(clock.now()) {}
    Lap(const Lap&) = delete;
    Lap& operator=(const Lap&) = delete;
    ~Lap() { total_ += clock_.now() - start_; }

  private:
    const Clock& clock_;
    double& total_;
    double start_;
};

/// Reads a clock after events often enough to know the time of each within about a millisecond, and
/// hardly ever more often: after every event that takes long, after every 16th of the short ones. A
/// virtual clock costs nothing and is read after every event.
class Ticker {
  public:
    static constexpr int most_skipped = 16;
    static constexpr double precision = 1e-3;

    explicit Ticker(const Clock& clock) : clock_(clock), now_(clock.now()) {}

    /// One more event is over; true if the clock was read.
    bool tick() {
        if (--countdown_ > 0) [[likely]]
            return false;
        read();
        return true;
    }
    /// The latest reading.
    double now() const { return now_; }

  private:
    void read();

    const Clock& clock_;
    double now_;
    int interval_ = 1;
    int countdown_ = 1;
};

}  // namespace effio
