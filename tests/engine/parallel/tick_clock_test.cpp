// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/tick_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "parallel/system.hpp"

namespace effio {
namespace {

TEST(TickDrift, is_by_how_much_the_scale_is_fast) {
    const TickScale scale{0, 0, 1.002e-9};
    const TickReading first{0, 10, 0, 50e-9};
    const TickReading last{1'000'000'000, 11, 0, 50e-9};
    const TickDrift drift = drift_between(scale, first, last);
    EXPECT_NEAR(drift.relative, 0.002, 1e-12);
    EXPECT_NEAR(drift.within, 1e-7, 1e-15);
    EXPECT_FALSE(drift.agrees());
    EXPECT_TRUE(drift_between({0, 0, 1.000001e-9}, first, last).agrees());
    EXPECT_FALSE(drift_between(scale, last, first).agrees()) << "the counter went back";
}

class TickClockTest : public testing::Test {
  protected:
    Clock clock;
    Comm comm = Comm::world(clock);
    StartReadings readings{read_tick_clocks(), read_tick_clocks()};
    TickClock ticks;
};

TEST_F(TickClockTest, ranks_of_a_node_read_one_clock_that_is_the_monotonic_one) {
    ticks.start(comm, Topology{}, readings, ClockChoice::automatic);
    EXPECT_EQ(comm.sum(clock.counts_ticks() ? 1 : 0) % comm.size(), 0) << "all ranks or none";
    EXPECT_NEAR(clock.now(), Clock::monotonic_seconds(), 0.1);
    if (!unusable_ticks(kernel_clock_source()).empty()) {
        EXPECT_FALSE(clock.counts_ticks());
        return;
    }
    if (!clock.counts_ticks()) return;  // the calibrations disagree on this machine
    std::array<double, 1> scale{clock.tick_scale().seconds_per_tick};
    comm.max(std::span<double>(scale));
    EXPECT_EQ(scale[0], clock.tick_scale().seconds_per_tick);
    const Json end = ticks.at_end(comm);
    EXPECT_EQ(end.is_null(), !comm.is_root());
    if (comm.is_root()) {
        EXPECT_LT(end["off_by"].get<double>(), 1e-2);
        EXPECT_GT(ticks.describe(clock)["per_second"].get<double>(), 1e8);
    }
    // A further run of the same ranks keeps the scale.
    const std::uint64_t origin = clock.tick_scale().origin;
    TickClock again;
    again.start(comm, Topology{}, readings, ClockChoice::automatic);
    EXPECT_EQ(clock.tick_scale().origin, origin);
}

TEST_F(TickClockTest, refused_where_the_user_or_two_calibrations_say_so) {
    TickClock unwanted;
    unwanted.start(comm, Topology{}, readings, ClockChoice::monotonic);
    EXPECT_FALSE(clock.counts_ticks());
    EXPECT_EQ(unwanted.describe(clock)["refused"], "disabled (--clock=monotonic)");
    EXPECT_TRUE(unwanted.at_end(comm).is_null());
    if (!unusable_ticks(kernel_clock_source()).empty()) return;
    // The counter appears to have jumped between the first two readings.
    StartReadings jumped = readings;
    jumped.before_mpi.ticks -= 1'000'000'000'000;
    ticks.start(comm, Topology{}, jumped, ClockChoice::automatic);
    EXPECT_FALSE(clock.counts_ticks());
    EXPECT_EQ(ticks.describe(clock)["refused"], "two calibrations of the counter disagree");
}

TEST_F(TickClockTest, a_model_counts_no_ticks) {
    Clock model(Clock::Kind::virtual_time);
    const Comm ranks = Comm::world(model);
    ticks.start(ranks, Topology{}, readings, ClockChoice::automatic);
    EXPECT_TRUE(ticks.describe(model).is_null());
    EXPECT_EQ(model.now(), 0);
}

}  // namespace
}  // namespace effio
