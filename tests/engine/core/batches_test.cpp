// SPDX-License-Identifier: BSD-3-Clause
#include "core/batches.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/pattern.hpp"
#include "noise.hpp"

namespace effio {
namespace {

TEST(Batches, slices_of_a_pass_computed_manually) {
    // 10 s in slices of 1/64 s, a byte in each; 640 calls: four of them are in 1/16 s, a hundredth
    // of the pass is 0.1 s, seven slices of 1/64 s. 91 of those are whole.
    const TimeSeries series(1.0 / 64, std::vector<double>(640, 1));
    const auto found = batches_of(series, 10, 640);
    EXPECT_DOUBLE_EQ(found.seconds, 7.0 / 64);
    ASSERT_EQ(found.rates.size(), 91U);
    EXPECT_EQ(found.none, "");
    for (const double rate : found.rates) EXPECT_DOUBLE_EQ(rate, 64);
    EXPECT_NEAR(found.interval()->half_width, 0, 1e-9);
}

TEST(Batches, a_slice_has_four_calls_of_a_worker) {
    // 80 calls in 10 s: 0.5 s each, twenty slices; 79 are too few.
    const TimeSeries series(1.0 / 64, std::vector<double>(640, 1));
    EXPECT_EQ(batches_of(series, 10, 80).rates.size(), 20U);
    EXPECT_DOUBLE_EQ(batches_of(series, 10, 80).seconds, 0.5);
    const auto few = batches_of(series, 10, 79);
    EXPECT_TRUE(few.rates.empty());
    EXPECT_FALSE(few.interval());
    EXPECT_EQ(few.none,
              "it takes 20 slices of at least 15.6 ms and 4 calls of each worker; the pass had 79 "
              "calls in 10 s");
}

TEST(Batches, a_call_of_one_of_four_workers_is_a_quarter_of_a_call) {
    EXPECT_EQ(batches_of(TimeSeries(1.0 / 64, {1}), 0.01, 0.25).none,
              "it takes 20 slices of at least 15.6 ms and 4 calls of each worker; the pass had "
              "0.25 calls in 10 ms");
}

TEST(Batches, what_is_over_at_once_has_none) {
    const TimeSeries series(1.0 / 64, {5});
    EXPECT_NE(batches_of(series, 0.01, 1000).none, "");
    EXPECT_NE(batches_of(TimeSeries(), 0, 0).none, "");
}

TEST(Batches, the_end_without_a_call_counts) {
    // Nothing was moved in the second half.
    const TimeSeries series(1.0 / 64, std::vector<double>(320, 1));
    const auto found = batches_of(series, 10, 6400);
    EXPECT_EQ(found.rates.back(), 0);
    EXPECT_LT(found.interval()->drift_chance, 1e-6);
}

TEST(CallMarks, slices_have_four_calls_on_average) {
    // Calls of 1 s: a hundred of them give 25 slices of four, 99 give 24, 79 are too few.
    for (const int calls : {100, 99, 79}) {
        CallMarks marks;
        marks.begin(1000);
        for (int i = 1; i <= calls; ++i) marks.note(i, 1000 + i);
        const auto found = marks.batches(7);
        EXPECT_EQ(found.rates.size(), calls < 80 ? 0U : static_cast<std::size_t>(calls / 4));
        for (const double rate : found.rates) EXPECT_NEAR(rate, 7, 1e-9);
        EXPECT_EQ(found.none.empty(), calls >= 80);
        if (calls >= 80) {
            const auto slices = calls / 4;
            EXPECT_DOUBLE_EQ(found.seconds,
                             static_cast<double>(calls) / static_cast<double>(slices));
        }
    }
}

TEST(CallMarks, a_long_loop_keeps_few_marks_and_loses_no_call) {
    for (const std::int64_t calls : {200, 201, 202, 400, 401, 1000, 12345}) {
        CallMarks marks;
        for (std::int64_t i = 1; i <= calls; ++i) marks.note(i, static_cast<double>(i) / 2);
        const auto found = marks.batches(3);
        EXPECT_GE(found.rates.size(), 50U) << calls;
        EXPECT_LE(found.rates.size(), 100U) << calls;
        for (const double rate : found.rates) EXPECT_NEAR(rate, 6, 1e-9) << calls;
        // The slices are most of the loop.
        EXPECT_GE(found.seconds * static_cast<double>(found.rates.size()),
                  0.9 * static_cast<double>(calls) / 2)
            << calls;
    }
}

TEST(CallMarks, the_mean_rate_is_all_calls_over_all_of_the_time) {
    // 80 calls of 1 s and then 20 of 16 s: 100 calls in 400 s, a quarter a second. The mean of the
    // rates of slices of four calls each would be (20 * 1 + 5 / 16) / 25 = 0.8125.
    CallMarks marks;
    marks.begin(0);
    double now = 0;
    for (int i = 1; i <= 100; ++i) marks.note(i, now += i <= 80 ? 1 : 16);
    const auto found = marks.batches(1);
    ASSERT_EQ(found.rates.size(), 25U);
    EXPECT_DOUBLE_EQ(found.seconds, 16);
    EXPECT_NEAR(found.interval()->mean, 0.25, 1e-12);
    for (std::size_t i = 0; i < 25; ++i) {
        EXPECT_NEAR(found.rates[i], i < 5 ? 1 : 1.0 / 16, 1e-9) << i;
    }
}

TEST(CallMarks, rare_slow_calls_are_within_the_interval) {
    // One call in a hundred takes 50 times as long: 10,000 calls of 0.99 + 0.01 * 50 = 1.49 s.
    constexpr int runs = 300;
    constexpr double truth = 1 / 1.49;
    int held = 0;
    for (int run = 0; run < runs; ++run) {
        CallMarks marks;
        marks.begin(0);
        double now = 0;
        for (std::int64_t i = 1; i <= 10000; ++i) {
            const auto draw =
                mix64(static_cast<std::uint64_t>(std::int64_t{run} * 10000 + i)) % 100;
            marks.note(i, now += draw == 0 ? 50 : 1);
        }
        const auto found = *marks.batches(1).interval();
        if (std::abs(found.mean - truth) <= found.half_width) ++held;
    }
    EXPECT_GE(held, 0.92 * runs);
    EXPECT_LE(held, 0.98 * runs);
}

/// Of 1,000 passes of `calls` calls of 10 ms with noise: how often the interval of the rate holds
/// the true one, and how often it is said to be unreliable.
struct Held {
    double of_series = 0;
    double of_marks = 0;
    double drifts = 0;
};
Held held(std::size_t calls, double rho, double drift) {
    constexpr int runs = 1000;
    Held found;
    Gaussian noise(20261125);
    for (int run = 0; run < runs; ++run) {
        TimeSeries series = TimeSeries::finely();
        CallMarks marks;
        double now = 0;
        const auto moved = correlated(noise, calls, rho);
        for (std::size_t i = 0; i < calls; ++i) {
            const double seconds = 0.01 * (1 + 0.1 * moved[i] + drift * static_cast<double>(i));
            series.add(now, now + seconds, 1);
            now += seconds;
            marks.note(static_cast<std::int64_t>(i) + 1, now);
        }
        const auto of_series = *batches_of(series, now, static_cast<double>(calls)).interval();
        const auto of_marks = *marks.batches(1).interval();
        constexpr double truth = 100;
        if (std::abs(of_series.mean - truth) <= of_series.half_width) found.of_series += 1.0 / runs;
        if (std::abs(of_marks.mean - truth) <= of_marks.half_width) found.of_marks += 1.0 / runs;
        if (of_series.drift_chance < 0.01 && of_marks.drift_chance < 0.01) {
            found.drifts += 1.0 / runs;
        }
    }
    return found;
}

TEST(Batches, known_noise_is_held_in_95_of_100_passes) {
    for (const double rho : {0.0, 0.5, 0.8}) {
        const auto found = held(1000, rho, 0);
        EXPECT_GE(found.of_series, 0.93) << rho;
        EXPECT_LE(found.of_series, 0.97) << rho;
        EXPECT_GE(found.of_marks, 0.93) << rho;
        EXPECT_LE(found.of_marks, 0.97) << rho;
    }
}

TEST(Batches, a_drift_within_a_pass_is_reported) {
    // Calls become a fifth slower from start to end.
    const auto found = held(1000, 0, 0.2 / 1000);
    EXPECT_LE(found.of_series, 0.05);
    EXPECT_GE(found.drifts, 0.99);
}

}  // namespace
}  // namespace effio
