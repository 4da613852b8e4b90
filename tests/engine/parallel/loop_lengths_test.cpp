// SPDX-License-Identifier: BSD-3-Clause
// The loop lengths of b_eff (docs/definitions/b-eff.md, Loops) manually, and the vote at borders of
// a plan.
#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "parallel/pace.hpp"

namespace effio {
namespace {

constexpr double target = 0.5;

TEST(LoopLengths, the_limit_is_ten_times_what_fits) {
    // 10 loops took 1 ms: 10 * 0.5 s / 1 ms.
    EXPECT_EQ(LoopLengths::limit_of(0.001, target), 5000);
    EXPECT_EQ(LoopLengths::limit_of(0.0030, target), 1666);  // 1666.67 cut off
    EXPECT_EQ(LoopLengths::limit_of(2.0, target), 10);       // never below 10
    EXPECT_EQ(LoopLengths::limit_of(0, target), 10);
}

TEST(LoopLengths, a_larger_size_gets_fewer_loops_unless_there_was_time_left) {
    const auto next = [](std::int64_t count, double seconds, double growth) {
        return LoopLengths::next_of(count, seconds, growth, target, 5000);
    };
    EXPECT_EQ(next(1000, 0.5, 2), 500);    // took its time: half the loops
    EXPECT_EQ(next(1000, 0.8, 2), 500);    // too slow: no less than that
    EXPECT_EQ(next(1000, 0.2, 2), 1250);   // 1000 / 2 * 0.5 / 0.2
    EXPECT_EQ(next(1000, 0.01, 2), 5000);  // 25000, limited
    EXPECT_EQ(next(7, 0.5, 2), 3);         // 3.5 cut off
    EXPECT_EQ(next(1, 3.0, 2.828427), 1);  // at least one
    EXPECT_EQ(next(17, 0, 2), 17);         // no time: unchanged
}

TEST(LoopLengths, the_root_decides_for_all) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    LoopLengths loops(comm, 2, target);
    EXPECT_EQ(loops[0], 10);
    // Other ranks' times differ and do not count.
    const double off = 1 + comm.rank();
    loops.start(std::array{0.001 * off, 0.01 * off});
    EXPECT_EQ(loops[0], 2500);
    EXPECT_EQ(loops[1], 250);
    loops.next(std::array{0.5 * off, 0.25 * off}, 2);
    EXPECT_EQ(loops[0], 1250);
    EXPECT_EQ(loops[1], 250);
    loops.restart(1);
    loops.next(std::array{0.1 * off, 1.0 * off}, 2.5);
    EXPECT_EQ(loops[0], 2);  // 1 / 2.5 * 5
    EXPECT_EQ(loops[1], 1);
}

TEST(Checkpoint, a_signal_to_any_rank_stops_all) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    for (int informed = 0; informed < comm.size(); ++informed) {
        const std::atomic<bool> here{comm.rank() == informed};
        Checkpoint stop(comm, here);
        EXPECT_FALSE(stop.go_on());
        EXPECT_EQ(stop.reason(), StopReason::interrupted);
    }
    const std::atomic<bool> nowhere{false};
    EXPECT_TRUE(Checkpoint(comm, nowhere).go_on());
}

}  // namespace
}  // namespace effio
