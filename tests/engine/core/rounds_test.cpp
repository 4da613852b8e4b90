// SPDX-License-Identifier: BSD-3-Clause
#include "core/rounds.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/json.hpp"
#include "core/stats.hpp"
#include "noise.hpp"

namespace effio {
namespace {

TEST(Rounds, independent_values_have_the_interval_of_student) {
    // Mean 10, deviation 1, t(4) = 2.77645.
    const double d = std::sqrt(2.0);
    const auto found = interval_of_rounds(std::vector<double>{10 - d, 10, 10, 10, 10 + d});
    ASSERT_TRUE(found);
    EXPECT_DOUBLE_EQ(found->mean, 10);
    EXPECT_NEAR(found->half_width, 2.776445 / std::sqrt(5), 1e-6);
    EXPECT_EQ(found->worth, 5);
    EXPECT_EQ(found->correlation, 0);
    EXPECT_FALSE(found->too_few());
    EXPECT_FALSE(interval_of_rounds(std::vector<double>{9, 10, 11, 12}));
}

/// tests/intervals.json: tests/statistics/test_repetitions.py compares the driver with the same
/// file.
TEST(Rounds, stored_numbers_have_the_interval_of_the_driver) {
    const Json cases = Json::parse(std::ifstream(EFFIO_INTERVALS));
    ASSERT_GE(cases.size(), 8U);
    for (const auto& one : cases) {
        const auto values = one["values"].get<std::vector<double>>();
        const auto found = interval_of_rounds(values);
        const std::string name = one["name"];
        ASSERT_EQ(found.has_value(), !one["half_width"].is_null()) << name;
        if (!found) continue;
        const double half = one["half_width"];
        EXPECT_NEAR(found->half_width, half, 1e-6 * half) << name;
        EXPECT_NEAR(found->mean, one["mean"].get<double>(), 1e-9 * found->mean) << name;
        EXPECT_NEAR(found->worth, one["worth"].get<double>(), 1e-6) << name;
    }
}

TEST(Rounds, a_first_value_unlike_the_others) {
    // The others: mean 10, deviation 1; t = 6 / sqrt(1 + 1/4) with 3 degrees of freedom.
    const double d = std::sqrt(0.75);
    const auto found = interval_of_rounds(std::vector<double>{16, 10 - d, 10 + d, 10 - d, 10 + d});
    EXPECT_DOUBLE_EQ(found->mean_without_first, 10);
    EXPECT_NEAR(found->warm_up_chance, student_t_chance(6 / std::sqrt(1.25), 3), 1e-9);
    EXPECT_LT(found->warm_up_chance, 0.02);
    // What arithmetic leaves of equal values is nothing; an exact model's other value is one.
    EXPECT_EQ(interval_of_rounds(std::vector<double>{7 + 1e-12, 7, 7, 7, 7})->warm_up_chance, 1);
    EXPECT_EQ(interval_of_rounds(std::vector<double>{8, 7, 7, 7, 7})->warm_up_chance, 0);
}

TEST(Rounds, correlation_computed_manually) {
    // Around their mean 1, -1, 1, -1: neighbors multiply to -3, squares to 4.
    EXPECT_DOUBLE_EQ(correlation_of_neighbors(std::vector<double>{6, 4, 6, 4}), -0.75);
    EXPECT_DOUBLE_EQ(correlation_of_neighbors(std::vector<double>{4, 4, 6, 6}), 0.25);
    EXPECT_EQ(correlation_of_neighbors(std::vector<double>{5, 5, 5}), 0);
}

TEST(Rounds, autocorrelated_values_count_as_fewer) {
    // -1 ten times, 1 ten times: r = (9 - 1 + 9) / 20 = 0.85; corrected it would be above 1 and is
    // limited to 0.95: 20 values count as 20 * 0.05 / 1.95.
    std::vector<double> steps(20, -1);
    std::fill(steps.begin() + 10, steps.end(), 1);
    const auto found = interval_of_rounds(steps);
    EXPECT_DOUBLE_EQ(found->correlation, 0.95);
    EXPECT_NEAR(found->worth, 20 * 0.05 / 1.95, 1e-12);
    EXPECT_TRUE(found->too_few());
    EXPECT_LT(found->drift_chance, 0.001);
    // Three of each alternately, 24: 16 neighbors are alike, 7 differ: r = 9/24, corrected by
    // (1 + 3 r)/24.
    std::vector<double> threes;
    for (int i = 0; i < 24; ++i) threes.push_back(i / 3 % 2 == 0 ? 1 : -1);
    const auto wave = interval_of_rounds(threes);
    const double r = 0.375 + 2.125 / 24;
    EXPECT_DOUBLE_EQ(wave->correlation, r);
    EXPECT_DOUBLE_EQ(wave->worth, 24 * (1 - r) / (1 + r));
    // Nineteen are too few to look at.
    EXPECT_EQ(interval_of_rounds(std::vector<double>(threes.begin(), threes.begin() + 19))->worth,
              19);
    // Alternately they are not autocorrelated.
    std::vector<double> turns;
    for (int i = 0; i < 20; ++i) turns.push_back(i % 2);
    EXPECT_EQ(interval_of_rounds(turns)->worth, 20);
}

TEST(Rounds, leaving_one_out_of_a_mean_gives_the_values) {
    const std::vector<double> values{3, 5, 10};
    const std::vector<LeftOut> without{{7.5, 3}, {6.5, 3}, {4, 3}};
    const auto found = values_by_leaving_out(6, without);
    ASSERT_EQ(found.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], values[i], 1e-12);
    EXPECT_TRUE(values_by_leaving_out(6, std::vector<LeftOut>{{6, 2}}).empty());
}

TEST(Rounds, leaving_one_out_of_a_product_of_means) {
    // sqrt(mean(a) mean(b)) of (1, 9), (3, 1): sqrt(2 * 5); without either 3 * 1 and 1 * 9:
    // distances from their mean (sqrt(3) + 3) / 2 times (2 - 1).
    const double whole = std::sqrt(10.0);
    const double a = std::sqrt(3.0);
    const double b = 3;
    const auto found = values_by_leaving_out(whole, std::vector<LeftOut>{{a, 2}, {b, 2}});
    EXPECT_NEAR(found[0], whole + (b - a) / 2, 1e-12);
    EXPECT_NEAR(found[1], whole - (b - a) / 2, 1e-12);
}

struct Coverage {
    double holds = 0;    ///< share of the runs that have the true value in the interval
    double warns = 0;    ///< share of the runs that say it may be unreliable
    double student = 0;  ///< share that Student's t would have without regard to neighbors
};

/// 1,000 runs of `count` values around 100.
template <class Values>
Coverage coverage(std::size_t count, double rho, const Values& moved) {
    Gaussian noise(20261124);
    Coverage found;
    constexpr int runs = 1000;
    for (int run = 0; run < runs; ++run) {
        auto values = correlated(noise, count, rho);
        for (std::size_t i = 0; i < count; ++i) values[i] = 100 + 10 * values[i] + moved(i);
        const auto interval = *interval_of_rounds(values);
        const bool warned = interval.drift_chance < 0.05 || interval.too_few();
        if (std::abs(interval.mean - 100) <= interval.half_width) found.holds += 1.0 / runs;
        if (warned) found.warns += 1.0 / runs;
        const Samples samples = samples_of(values);
        if (std::abs(samples.mean() - 100) <= samples.confidence95()) {
            found.student += 1.0 / runs;
        }
    }
    return found;
}

double still(std::size_t /*i*/) {
    return 0;
}

TEST(Rounds, independent_noise_is_held_in_95_of_100_runs) {
    for (const std::size_t count : {5U, 10U, 20U, 60U}) {
        const auto found = coverage(count, 0, still);
        EXPECT_GE(found.holds, 0.93) << count;
        EXPECT_LE(found.holds, 0.98) << count;
    }
}

TEST(Rounds, autocorrelated_noise_is_held_too) {
    for (const double rho : {0.3, 0.5, 0.7}) {
        const auto found = coverage(100, rho, still);
        EXPECT_GE(found.holds, 0.92) << rho;  // 94 in docs/statistics.md, of more runs
        EXPECT_LE(found.holds, 0.98) << rho;
        EXPECT_LE(found.student, 0.87) << rho;  // what it is for
    }
}

TEST(Rounds, a_drift_is_reported) {
    // Three deviations from begin to end.
    const auto found = coverage(30, 0, [](std::size_t i) { return static_cast<double>(i); });
    EXPECT_GE(found.warns, 0.95);
}

}  // namespace
}  // namespace effio
