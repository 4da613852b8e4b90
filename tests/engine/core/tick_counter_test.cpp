// SPDX-License-Identifier: BSD-3-Clause
#include "core/tick_counter.hpp"

#include <gtest/gtest.h>

#include "core/clock.hpp"
#include "core/stats.hpp"

namespace effio {
namespace {

TEST(TickRate, is_seconds_over_ticks_and_its_error_both_brackets_over_the_time) {
    // 2 GHz over half a second; the readings are within 30 and 20 ns.
    const TickReading first{1'000'000'000, 100.0, 40.0, 30e-9};
    const TickReading last{2'000'000'000, 100.5, 40.5, 20e-9};
    const TickRate rate = rate_between(first, last);
    EXPECT_DOUBLE_EQ(rate.seconds_per_tick, 0.5e-9);
    EXPECT_NEAR(rate.relative_error, 1e-7, 1e-18);
    EXPECT_EQ(rate_between(last, first).seconds_per_tick, 0) << "the counter went back";
    EXPECT_EQ(rate_between(first, first).seconds_per_tick, 0);
}

TEST(TickRate, calibrations_agree_within_their_errors_and_one_millionth) {
    const TickRate rate{0.5e-9, 1e-7};
    EXPECT_TRUE(agree(rate, {0.5e-9 * (1 + 1.1e-6), 1e-7}));
    EXPECT_FALSE(agree(rate, {0.5e-9 * (1 + 1.4e-6), 1e-7}));
    EXPECT_TRUE(agree(rate, {0.5e-9 * (1 - 90e-6), 1e-4})) << "a short calibration is less precise";
    EXPECT_FALSE(agree(rate, {0, 1e-7}));
}

TEST(TickScale, counts_from_the_origin_in_both_directions) {
    const TickScale scale{5000, 1000.0, 1e-3};
    EXPECT_DOUBLE_EQ(scale.seconds_at(5000), 1000.0);
    EXPECT_DOUBLE_EQ(scale.seconds_at(7500), 1002.5);
    EXPECT_DOUBLE_EQ(scale.seconds_at(4999), 999.999);
}

TEST(TickScale, ticks_become_rounded_nanoseconds_without_floating_point) {
    TickScale scale{0, 0, 0.4e-9};  // 2.5 GHz
    scale.set_nanoseconds();
    EXPECT_EQ(scale.nanoseconds_in(0), 0U);
    EXPECT_EQ(scale.nanoseconds_in(1), 0U);  // 0.4 ns
    EXPECT_EQ(scale.nanoseconds_in(2), 1U);  // 0.8 ns
    EXPECT_EQ(scale.nanoseconds_in(25), 10U);
    // A day, and a counter that is behind.
    EXPECT_EQ(scale.nanoseconds_in(std::uint64_t{216} * 1'000'000'000'000),
              std::uint64_t{864} * 100'000'000'000);
    EXPECT_EQ(scale.nanoseconds_in(std::uint64_t{0} - 3), 0U);
    TickScale slow{0, 0, 10e-9};  // 100 MHz
    slow.set_nanoseconds();
    EXPECT_EQ(slow.nanoseconds_in(7), 70U);
}

TEST(UnusableTicks, only_a_kernel_that_uses_them_says_that_processors_agree) {
    EXPECT_NE(unusable_ticks("hpet"), "");
    EXPECT_NE(unusable_ticks("kvm-clock"), "");
    EXPECT_NE(unusable_ticks(""), "");
}

TEST(Clock, ticks_are_real_time_and_a_call_is_timed) {
    Clock clock;
    EXPECT_FALSE(clock.counts_ticks());
    EXPECT_GT(call_timing_cost(clock), 0);
    EXPECT_LT(call_timing_cost(clock), 1e-3);
    EXPECT_EQ(call_timing_cost(Clock(Clock::Kind::virtual_time)), 0);
    if (read_ticks() == 0) GTEST_SKIP() << "no counter on this processor";
    const std::uint64_t before = read_ticks();
    clock.count_ticks({before, 50.0, 1e-9});
    const double now = clock.now();
    const std::uint64_t after = read_ticks();
    EXPECT_TRUE(clock.counts_ticks());
    EXPECT_GE(now, 50.0);
    EXPECT_LE(now, 50.0 + 1e-9 * static_cast<double>(after - before) + 1e-9);
}

}  // namespace
}  // namespace effio
