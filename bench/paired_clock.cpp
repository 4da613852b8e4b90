// SPDX-License-Identifier: BSD-3-Clause
// Cost of timing a call: a loop of calls that are timed into a histogram as in the engine, and the
// same loop without timing (READS = 0), or with only the two readings of the counter (READS = 1),
// which every timing needs (bench/clock.py).
//
//   paired_clock DIRECTORY CALLS TURNS READS    nanoseconds per call
#include <mpi.h>

#include <cstdint>
#include <cstdio>

#include "core/stats.hpp"
#include "paired.hpp"
#include "parallel/tick_clock.hpp"

namespace {

/// Takes the place of a call; the compiler cannot remove it.
inline void call(long i) {
    asm volatile("" : : "r"(i) : "memory");
}

double timed(const effio::Clock& clock, effio::Histogram& histogram, long calls) {
    const double start = clock.now();
    for (long i = 0; i < calls; ++i) {
        const effio::CallStart begin = clock.start_call();
        call(i);
        histogram.add_nanoseconds(clock.nanoseconds_since(begin));
    }
    return (clock.now() - start) / static_cast<double>(calls) * 1e9;
}

double bare(const effio::Clock& clock, long calls) {
    const double start = clock.now();
    for (long i = 0; i < calls; ++i) call(i);
    return (clock.now() - start) / static_cast<double>(calls) * 1e9;
}

double read_only(const effio::Clock& clock, long calls) {
    const double start = clock.now();
    std::uint64_t sum = 0;
    for (long i = 0; i < calls; ++i) {
        const std::uint64_t begin = effio::read_ticks();
        call(i);
        sum += effio::read_ticks() - begin;
    }
    asm volatile("" : : "r"(sum));
    return (clock.now() - start) / static_cast<double>(calls) * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
    const effio::TickReading before = effio::read_tick_clocks();
    return paired::program(
        argc, argv, "paired_clock DIRECTORY CALLS TURNS READS",
        [&](effio::Session& session, const std::string&, paired::Numbers numbers) {
            const auto calls = static_cast<long>(numbers[0]);
            effio::TickClock ticks;
            ticks.start(session.comm, effio::Topology{}, {before, effio::read_tick_clocks()},
                        effio::ClockChoice::automatic);
            effio::Histogram histogram;
            double (*const reference)(const effio::Clock&, long) =
                numbers[2] == 0 ? bare : read_only;
            for (int turn = 0; turn < static_cast<int>(numbers[1]); ++turn) {
                const auto rates = paired::both(
                    turn % 2 == 0, [&] { return timed(session.clock, histogram, calls); },
                    [&] { return reference(session.clock, calls); });
                if (session.comm.is_root()) {
                    std::printf("%s %.6g %.6g\n",
                                session.clock.counts_ticks() ? "TSC" : "CLOCK_MONOTONIC",
                                rates.ours, rates.theirs);
                }
            }
            return 0;
        });
}
