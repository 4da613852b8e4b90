// SPDX-License-Identifier: BSD-3-Clause
#include "core/sequential.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace effio {
namespace {

TEST(SequentialInterval, its_width_is_that_of_the_formula) {
    // Computed manually:
    // r^2 = (5.991465 + log(6.991465)) / 20 = 0.396808; 10 r^2 + 1 = 4.96808, its root
    // 2.22892; sqrt(2 * 4.96808 / (100 * 0.396808) * log(2.22892 / 0.05)) = 0.975115; deviation
    // sqrt(6/9); t(9) / 1.959964 = 2.262157 / 1.959964.
    const std::vector<double> ten{9, 10, 11, 10, 9, 11, 10, 9, 11, 10};
    const auto found = sequential_interval(ten);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->mean, 10);
    EXPECT_EQ(found->worth, 10);
    EXPECT_NEAR(found->half_width, 0.918933, 1e-5);
    EXPECT_FALSE(sequential_interval(std::vector{1.0}));
    EXPECT_EQ(sequential_interval(std::vector<double>(12, 7.0))->half_width, 0);
    EXPECT_EQ(sequential_interval(std::vector<double>(12, 7.0))->worth, 12);
}

TEST(SequentialInterval, correlated_values_are_worth_fewer) {
    // Five of 9, five of 11: r = 0.7, rho = (7 + 1) / 6, limited to 0.95: factor 39.
    std::vector<double> steps(10, 9);
    std::fill(steps.begin() + 5, steps.end(), 11);
    EXPECT_NEAR(sequential_interval(steps)->worth, 10.0 / 39, 1e-9);
    std::vector<double> mixed{9, 11, 9, 11, 9, 11, 9, 11, 9, 11};
    EXPECT_LT(sequential_interval(mixed)->half_width, sequential_interval(steps)->half_width / 3);
}

TEST(Oddities, outliers_are_far_from_the_median_by_the_median_of_the_distances) {
    // Median 100, median of the distances 1: five deviations are 7.4.
    const std::vector<double> values{99, 100, 101, 100, 99, 101, 107, 100, 101, 99};
    EXPECT_EQ(oddities_of(values).outliers, 0);
    auto more = values;
    more[6] = 108;
    EXPECT_EQ(oddities_of(more).outliers, 1);
    EXPECT_EQ(oddities_of(std::vector<double>(8, 3.0)).outliers, 0);
    EXPECT_FALSE(oddities_of(std::vector{1.0, 1.0, 1.0, 9.0}).any()) << "too few";
}

TEST(Oddities, two_modes_are_two_levels_with_a_wide_gap) {
    EXPECT_TRUE(oddities_of(std::vector{1.0, 1.1, 0.9, 2.0, 2.1, 1.05, 1.9, 1.0}).two_modes);
    EXPECT_FALSE(oddities_of(std::vector{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}).two_modes);
    // A single value is an outlier, not a mode.
    const auto one = oddities_of(std::vector{1.0, 1.1, 0.9, 1.0, 2.0, 1.05, 0.95});
    EXPECT_FALSE(one.two_modes);
    EXPECT_EQ(one.outliers, 1);
}

}  // namespace
}  // namespace effio
