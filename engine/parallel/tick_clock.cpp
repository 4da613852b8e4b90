// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/tick_clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "parallel/system.hpp"

namespace effio {
namespace {

/// Minimum time between the two readings of a calibration; each reading has an error of some 30 ns.
constexpr double least_baseline_seconds = 0.01;
/// Accepted difference from CLOCK_MONOTONIC, which NTP may adjust between the readings.
constexpr double scale_tolerance_seconds = 1e-5;

/// The second reading of a calibration that started with `first`.
TickReading reading_after(const TickReading& first) {
    TickReading last = read_tick_clocks();
    const double missing = least_baseline_seconds - (last.raw_seconds - first.raw_seconds);
    if (missing > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(missing));
        last = read_tick_clocks();
    }
    return last;
}

}  // namespace

TickDrift drift_between(const TickScale& scale, const TickReading& first, const TickReading& last) {
    const TickRate rate = rate_between(first, last);
    if (rate.seconds_per_tick <= 0) return {1, 0};
    return {scale.seconds_per_tick / rate.seconds_per_tick - 1, rate.relative_error};
}

bool TickDrift::agrees() const {
    return std::abs(relative) <= within + tick_rate_tolerance;
}

void TickClock::start(const Comm& comm, const Topology& topology, const StartReadings& readings,
                      ClockChoice choice) {
    Clock& clock = comm.clock();
    if (clock.is_virtual()) return;
    started_ = read_tick_clocks();
    if (clock.counts_ticks()) return;
    refused_ = choice == ClockChoice::monotonic ? "disabled (--clock=monotonic)"
                                                : unusable_ticks(kernel_clock_source());
    const auto any = [&](bool refused) { return comm.max(refused ? 1 : 0) > 0; };
    if (any(!refused_.empty())) {
        if (refused_.empty()) refused_ = "another node cannot use its counter";
        return;
    }
    const std::optional<Comm> part =
        topology.nodes == 1 ? std::nullopt : comm.split(std::optional<int>(topology.node));
    const Comm& node = part ? *part : comm;
    std::array<std::uint64_t, 1> origin{};
    std::array<double, 3> numbers{};
    if (node.is_root()) {
        const TickReading last = reading_after(readings.before_mpi);
        const TickRate rate = rate_between(readings.before_mpi, last);
        const bool steady = agree(rate_between(readings.before_mpi, readings.after_mpi),
                                  rate_between(readings.after_mpi, last));
        origin[0] = last.ticks;
        numbers = {last.monotonic_seconds, steady ? rate.seconds_per_tick : 0, rate.relative_error};
    }
    node.broadcast(std::span<std::uint64_t>(origin));
    node.broadcast(std::span<double>(numbers));
    const TickScale scale{origin[0], numbers[0], numbers[1]};
    relative_error_ = numbers[2];
    if (any(scale.seconds_per_tick <= 0)) {
        refused_ = "two calibrations of the counter disagree";
        return;
    }
    started_ = read_tick_clocks();
    const double off = std::abs(scale.seconds_at(started_.ticks) - started_.monotonic_seconds);
    if (any(off > started_.within_seconds + scale_tolerance_seconds)) {
        refused_ = "the counters of a node's processors differ";
        return;
    }
    clock.count_ticks(scale);
}

Json TickClock::describe(const Clock& clock) const {
    if (clock.is_virtual()) return nullptr;
    if (!clock.counts_ticks()) return Json{{"refused", refused_}};
    return Json{{"per_second", 1 / clock.tick_scale().seconds_per_tick},
                {"relative_error", relative_error_}};
}

Json TickClock::at_end(const Comm& comm) const {
    const Clock& clock = comm.clock();
    if (!clock.counts_ticks()) return nullptr;
    const TickDrift drift = drift_between(clock.tick_scale(), started_, read_tick_clocks());
    // The largest difference of any rank is reported.
    std::array<double, 3> worst{std::abs(drift.relative), drift.within, drift.agrees() ? 0.0 : 1.0};
    comm.max(std::span<double>(worst));
    if (!comm.is_root()) return nullptr;
    return Json{{"off_by", worst[0]}, {"within", worst[1]}, {"agrees", worst[2] <= 0}};
}

}  // namespace effio
