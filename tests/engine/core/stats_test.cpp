// SPDX-License-Identifier: BSD-3-Clause
#include "core/stats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace effio {
namespace {

TEST(Stats, samples_have_the_textbook_moments) {
    // Mean 40/8 = 5; squared distances 9+1+1+1+0+0+4+16 = 32.
    const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};
    const Samples s = samples_of(values);
    EXPECT_EQ(s.count(), 8);
    EXPECT_DOUBLE_EQ(s.mean(), 5);
    EXPECT_DOUBLE_EQ(s.population_deviation(), 2);
    EXPECT_DOUBLE_EQ(s.deviation(), std::sqrt(32.0 / 7));
    EXPECT_NEAR(s.confidence95(), 2.3646243 * std::sqrt(32.0 / 7) / std::sqrt(8.0), 1e-6);
    EXPECT_EQ(s.min(), 2);
    EXPECT_EQ(s.max(), 9);
}

TEST(Stats, a_large_offset_does_not_eat_the_variance) {
    // The sum of squares would lose all digits of it; Welford's recurrence does not.
    Samples s;
    for (const double v : {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}) s.add(v);
    EXPECT_DOUBLE_EQ(s.deviation(), std::sqrt(30.0));
}

TEST(Stats, few_samples_have_no_spread) {
    EXPECT_EQ(Samples().deviation(), 0);
    EXPECT_EQ(Samples().population_deviation(), 0);
    Samples one;
    one.add(3);
    EXPECT_EQ(one.deviation(), 0);
    EXPECT_EQ(one.confidence95(), 0);
    EXPECT_EQ(one.mean(), 3);
}

TEST(Stats, student_t_is_that_of_the_tables) {
    const std::vector<std::pair<double, double>> tables{
        {1, 12.7062},  {2, 4.30265},  {5, 2.57058},  {10, 2.22814},  {11, 2.20099},
        {20, 2.08596}, {30, 2.04227}, {60, 2.00030}, {120, 1.97993}, {1e6, 1.95997}};
    for (const auto& [freedom, t] : tables) {
        EXPECT_NEAR(student_t_975(freedom), t, 1e-5 * t) << freedom;
    }
}

TEST(Stats, the_chance_of_students_t_is_that_of_the_tables) {
    for (const auto& [t, freedom] : {std::pair{12.7062, 1.0},
                                     {4.30265, 2.0},
                                     {2.57058, 5.0},
                                     {2.04227, 30.0},
                                     {1.96234, 1000.0},
                                     {1.95997, 1e6}}) {
        EXPECT_NEAR(student_t_chance(t, freedom), 0.05, 1e-3) << freedom;
        EXPECT_NEAR(student_t_chance(-t, freedom), 0.05, 1e-3) << freedom;
    }
    // With one degree of freedom it is Cauchy's: 1 - 2/pi atan(t), with two 1 - t/sqrt(2 + t^2).
    EXPECT_NEAR(student_t_chance(1, 1), 0.5, 1e-6);
    EXPECT_NEAR(student_t_chance(2, 2), 1 - 2 / std::sqrt(6.0), 1e-6);
    EXPECT_NEAR(student_t_chance(0, 3.5), 1, 1e-9);
}

TEST(Stats, the_chance_of_two_means) {
    const auto of = [](std::initializer_list<double> values) {
        return samples_of(std::vector<double>(values));
    };
    // Means 2 and 12, variances of the mean 1/3 each: t = 10 / sqrt(2/3) = 12.2474, 4 degrees;
    // chance 1 - (1.5 x - 0.5 x^3) with x = t / sqrt(4 + t^2) = 0.98693.
    EXPECT_NEAR(chance_of_difference(of({1, 2, 3}), of({11, 12, 13})), 2.55e-4, 1e-6);
    EXPECT_EQ(chance_of_difference(of({5, 5}), of({5, 5})), 1);
    EXPECT_EQ(chance_of_difference(of({5, 5}), of({6, 6})), 0);
    EXPECT_EQ(chance_of_difference(of({5}), of({6, 6})), 1);
    // What rounding leaves between equal values does not count as a difference.
    EXPECT_EQ(chance_of_difference(of({5, 5}), of({5 * (1 + 1e-15), 5 * (1 + 1e-15)})), 1);
}

TEST(Stats, means) {
    const std::vector<double> values{1, 10, 100};
    EXPECT_DOUBLE_EQ(arithmetic_mean(values), 37);
    EXPECT_NEAR(geometric_mean(values), 10, 1e-12);
    EXPECT_TRUE(std::isnan(geometric_mean(std::vector<double>{1, 0})));
    EXPECT_TRUE(std::isnan(geometric_mean({})));
    EXPECT_TRUE(std::isnan(arithmetic_mean({})));
}

TEST(Histogram, buckets_follow_each_other_without_gap_or_overlap) {
    for (std::size_t b = 1; b < Histogram::buckets; ++b) {
        const std::uint64_t begin = Histogram::bucket_begin_ns(b);
        EXPECT_EQ(Histogram::bucket_of(begin), b);
        EXPECT_EQ(Histogram::bucket_of(begin - 1), b - 1);
    }
    EXPECT_EQ(Histogram::bucket_of(0), 0U);
    EXPECT_EQ(Histogram::bucket_of(std::numeric_limits<std::uint64_t>::max()),
              Histogram::buckets - 1);
    // 63/32 of 2^42 ns: 2 h 24 min.
    EXPECT_EQ(Histogram::bucket_begin_ns(Histogram::buckets - 1), 8658654068736U);
}

TEST(Histogram, a_percentile_is_within_1_6_percent) {
    for (const std::uint64_t ns : {1ULL, 63ULL, 64ULL, 65ULL, 100ULL, 1023ULL, 1024ULL, 999'999ULL,
                                   123'456'789ULL, 2'000'000'000ULL, 3'600'000'000'000ULL}) {
        Histogram h;
        h.add_nanoseconds(ns / 2);
        h.add_nanoseconds(ns);
        h.add_nanoseconds(2 * ns);  // so that the extremes do not help
        EXPECT_NEAR(h.quantile_seconds(0.5) * 1e9, static_cast<double>(ns),
                    0.016 * static_cast<double>(ns));
    }
}

TEST(Histogram, quantiles_are_nearest_rank) {
    Histogram h;
    for (std::uint64_t ns = 1; ns <= 50; ++ns) h.add_nanoseconds(ns);  // exact buckets
    EXPECT_DOUBLE_EQ(h.quantile_seconds(0), 1e-9);
    EXPECT_DOUBLE_EQ(h.quantile_seconds(0.5), 25e-9);
    EXPECT_DOUBLE_EQ(h.quantile_seconds(0.9), 45e-9);
    EXPECT_DOUBLE_EQ(h.quantile_seconds(0.99), 50e-9);
    EXPECT_DOUBLE_EQ(h.quantile_seconds(1), 50e-9);
    EXPECT_DOUBLE_EQ(h.mean_seconds(), 25.5e-9);
    EXPECT_DOUBLE_EQ(h.min_seconds(), 1e-9);
    EXPECT_DOUBLE_EQ(h.max_seconds(), 50e-9);
}

TEST(Histogram, an_empty_one_is_all_zero) {
    const Histogram h;
    EXPECT_EQ(h.count(), 0U);
    EXPECT_EQ(h.mean_seconds(), 0);
    EXPECT_EQ(h.min_seconds(), 0);
    EXPECT_EQ(h.max_seconds(), 0);
    EXPECT_EQ(h.quantile_seconds(0.5), 0);
}

TEST(Histogram, seconds_are_rounded_to_nanoseconds) {
    Histogram h;
    h.add(1.4e-9);
    h.add(1.6e-9);
    h.add(-5);  // a clock that went backwards: not a time
    EXPECT_EQ(h.counts()[0], 1U);
    EXPECT_EQ(h.counts()[1], 1U);
    EXPECT_EQ(h.counts()[2], 1U);
}

TEST(Histogram, more_calls_than_32_bits_count) {
    // Three calls, doubled 32 times: 3 * 2^32 calls of 1, 2 and 3 us.
    Histogram all;
    for (const std::uint64_t ns : {1000U, 2000U, 3000U}) all.add_nanoseconds(ns);
    for (int i = 0; i < 32; ++i) {
        const Histogram same = all;
        all.merge(same);
    }
    constexpr std::uint64_t each = std::uint64_t{1} << 32;
    EXPECT_EQ(all.count(), 3 * each);
    EXPECT_EQ(all.counts()[Histogram::bucket_of(2000)], each);
    EXPECT_DOUBLE_EQ(all.mean_seconds(), 2e-6);
    EXPECT_NEAR(all.quantile_seconds(0.5), 2e-6, 0.016 * 2e-6);
    // As a reduction over ranks carries them.
    const auto again = Histogram::from_state(all.additive_state(), all.min_ns(), all.max_ns());
    EXPECT_EQ(again.count(), 3 * each);
}

TEST(Histogram, merging_and_reducing_are_the_same_as_adding_to_one) {
    Histogram a;
    Histogram b;
    Histogram both;
    for (const std::uint64_t ns : {5ULL, 700ULL, 700ULL, 90'000ULL}) {
        a.add_nanoseconds(ns);
        both.add_nanoseconds(ns);
    }
    for (const std::uint64_t ns : {3ULL, 90'000ULL, 1'000'000'000ULL}) {
        b.add_nanoseconds(ns);
        both.add_nanoseconds(ns);
    }
    auto state = a.additive_state();
    const auto other = b.additive_state();
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += other[i];
    const Histogram reduced = Histogram::from_state(state, std::min(a.min_ns(), b.min_ns()),
                                                    std::max(a.max_ns(), b.max_ns()));
    a.merge(b);
    for (const Histogram* h : std::array<const Histogram*, 2>{&a, &reduced}) {
        EXPECT_TRUE(std::ranges::equal(h->counts(), both.counts()));
        EXPECT_EQ(h->count(), 7U);
        EXPECT_DOUBLE_EQ(h->mean_seconds(), both.mean_seconds());
        EXPECT_DOUBLE_EQ(h->min_seconds(), 3e-9);
        EXPECT_DOUBLE_EQ(h->max_seconds(), 1.0);
    }
    a.clear();
    EXPECT_EQ(a.count(), 0U);
}

}  // namespace
}  // namespace effio
