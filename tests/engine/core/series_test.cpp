// SPDX-License-Identifier: BSD-3-Clause
#include "core/series.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "core/clock.hpp"

namespace effio {
namespace {

TEST(TimeSeries, an_amount_is_spread_evenly_over_the_time_it_took) {
    TimeSeries series;
    series.add(0, 0.5, 10);
    series.add(0.5, 2.5, 80);  // 40 a second
    EXPECT_EQ(series.width(), 1);
    EXPECT_EQ(series.slices(), (std::vector<double>{30, 40, 20}));
}

TEST(TimeSeries, what_takes_no_time_counts_where_it_happens) {
    TimeSeries series;
    series.add(1.25, 1.25, 5);
    EXPECT_EQ(series.slices(), (std::vector<double>{0, 5}));
}

TEST(TimeSeries, keeps_its_sum_and_its_bound_over_a_long_time) {
    TimeSeries series;
    for (int second = 0; second < 10000; ++second) series.add(second, second + 1, 3);
    EXPECT_EQ(series.width(), 4);
    EXPECT_LE(series.slices().size(), TimeSeries::most_slices);
    EXPECT_DOUBLE_EQ(std::accumulate(series.slices().begin(), series.slices().end(), 0.0), 30000);
    EXPECT_DOUBLE_EQ(series.slices()[1], 12);
}

TEST(TimeSeries, what_was_done_later_moves_by_whole_slices) {
    TimeSeries series(1, {1, 2});
    series.delay(0.4);
    EXPECT_EQ(series.slices(), (std::vector<double>{1, 2}));
    series.delay(1.6);
    EXPECT_EQ(series.slices(), (std::vector<double>{0, 0, 1, 2}));
    series.delay(1e4);
    EXPECT_EQ(series.width(), 4);
    EXPECT_LE(series.slices().size(), TimeSeries::most_slices);
    EXPECT_DOUBLE_EQ(series.slices()[2500], 3);
    TimeSeries nothing;
    nothing.delay(5);
    EXPECT_TRUE(nothing.slices().empty());
}

TEST(TimeSeries, widens_by_merging_neighbors) {
    TimeSeries series(1, {1, 2, 3});
    series.widen_to(2);
    EXPECT_EQ(series.width(), 2);
    EXPECT_EQ(series.slices(), (std::vector<double>{3, 3}));
}

TEST(SteadyRule, needs_a_full_window) {
    SteadyRule rule({3, 0.1});
    EXPECT_FALSE(rule.add(100));
    EXPECT_FALSE(rule.add(100));
    EXPECT_FALSE(rule.verdict());
    EXPECT_TRUE(rule.add(100));
    EXPECT_DOUBLE_EQ(rule.verdict()->mean, 100);
}

TEST(SteadyRule, refuses_a_range_above_twice_the_tolerance) {
    // Mean 100, range 20 = 2 * 0.1 * 100; no drift: the line through 90, 110, 110, 90 is flat.
    SteadyRule rule({4, 0.1});
    for (const double rate : {90.0, 110.0, 110.0}) EXPECT_FALSE(rule.add(rate));
    EXPECT_TRUE(rule.add(90));
    SteadyRule wide({4, 0.1});
    for (const double rate : {89.0, 111.0, 111.0}) EXPECT_FALSE(wide.add(rate));
    EXPECT_FALSE(wide.add(89));
}

TEST(SteadyRule, refuses_a_drift_above_the_tolerance) {
    // 93 … 107 in equal steps: range 14 <= 20, but the line rises by 14 > 10.
    SteadyRule rule({3, 0.1});
    rule.add(93);
    rule.add(100);
    EXPECT_FALSE(rule.add(107));
    EXPECT_DOUBLE_EQ(rule.verdict()->drift, 14);
    EXPECT_DOUBLE_EQ(rule.verdict()->range, 14);
    EXPECT_TRUE(rule.add(107));  // 100, 107, 107: mean 104.67, drift and range 7
}

TEST(SteadyRule, forgets_what_is_before_the_window_and_never_calls_rest_steady) {
    SteadyRule rule({3, 0.1});
    for (const double rate : {1000.0, 10.0, 10.0}) EXPECT_FALSE(rule.add(rate));
    EXPECT_TRUE(rule.add(10));
    SteadyRule still({2, 0.1});
    still.add(0);
    EXPECT_FALSE(still.add(0));
}

TEST(Ticker, reads_a_virtual_clock_after_every_event) {
    Clock clock(Clock::Kind::virtual_time);
    Ticker ticker(clock);
    for (int i = 1; i <= 40; ++i) {
        clock.advance(1e-6);
        EXPECT_TRUE(ticker.tick());
        EXPECT_DOUBLE_EQ(ticker.now(), i * 1e-6);
    }
}

TEST(Ticker, skips_readings_of_a_real_clock_between_short_events) {
    const Clock clock;
    Ticker ticker(clock);
    int readings = 0;
    constexpr int events = 16 * 100;
    for (int i = 0; i < events; ++i) readings += ticker.tick() ? 1 : 0;
    // An event here takes nanoseconds; a reading in 16 unless the machine stood still in between.
    EXPECT_LT(readings, events / 2);
    EXPECT_GE(readings, events / 16);
}

}  // namespace
}  // namespace effio
