// SPDX-License-Identifier: BSD-3-Clause
#include "core/clock.hpp"

#include <gtest/gtest.h>

namespace effio {
namespace {

TEST(Clock, virtual_time_passes_only_when_it_is_reported_to) {
    Clock clock(Clock::Kind::virtual_time);
    EXPECT_TRUE(clock.is_virtual());
    EXPECT_EQ(clock.now(), 0);
    clock.advance(1.5);
    EXPECT_EQ(clock.now(), 1.5);
    clock.wait_until(1.0);  // lies behind
    EXPECT_EQ(clock.now(), 1.5);
    clock.wait_until(4.0);
    EXPECT_EQ(clock.now(), 4.0);
    EXPECT_EQ(clock.resolution(), 0);
}

TEST(Clock, real_time_goes_forward_in_steps_of_its_resolution) {
    const Clock clock;
    EXPECT_FALSE(clock.is_virtual());
    const double start = clock.now();
    const double resolution = clock.resolution();  // 20 trials, each waits for a step
    EXPECT_GT(resolution, 0);
    EXPECT_LT(resolution, 1.0);
    EXPECT_GE(clock.now() - start, resolution);
    clock.now();
}

TEST(Clock, laps_add_up) {
    Clock clock(Clock::Kind::virtual_time);
    double total = 0;
    for (int i = 0; i < 3; ++i) {
        const Lap lap(clock, total);
        clock.advance(0.25);
    }
    clock.advance(10);  // outside
    EXPECT_EQ(total, 0.75);
}

}  // namespace
}  // namespace effio
