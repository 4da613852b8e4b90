// SPDX-License-Identifier: BSD-3-Clause
#include "frame/round_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace effio {
namespace {

Figure rate(const std::string& name, double value) {
    Figure f;
    f.benchmark = "test";
    f.name = name;
    f.metric = Metric::rate(value);
    return f;
}

TEST(RoundFigures, the_mean_of_the_rounds_with_its_interval_or_range) {
    RoundFigures rounds;
    const double d = std::sqrt(2.0);
    for (const double value : {10 - d, 10.0, 10.0, 10.0, 10 + d}) {
        rounds.add(rate("a", value));
        if (rounds.rounds() < 2) rounds.add(rate("b", value));
        rounds.end_round();
    }
    const auto figures = rounds.figures();
    ASSERT_EQ(figures.size(), 2U);
    EXPECT_EQ(rounds.rounds(), 5);
    const Figure& a = figures[0];
    EXPECT_DOUBLE_EQ(a.metric.value, 10);
    EXPECT_EQ(a.samples->count, 5);
    EXPECT_EQ(a.samples->min, 10 - d);
    EXPECT_NEAR(*a.samples->high95, 10 + 2.776445 / std::sqrt(5), 1e-5);
    EXPECT_EQ(a.detail["interval"]["rounds"], 5);
    EXPECT_EQ(a.detail["interval"]["drift"], false);
    EXPECT_EQ(interval_text(a), "± 12.4 % (95 %, 5 rounds)");
    // A part that was measured in two rounds: mean 10 - d/2, and its range.
    const Figure& b = figures[1];
    EXPECT_EQ(b.samples->count, 2);
    EXPECT_FALSE(b.samples->low95);
    EXPECT_EQ(b.detail["interval"]["none"], "2 rounds have a range only; an interval needs 5");
    EXPECT_EQ(interval_text(b), "-7.61 % to 7.61 % (range of 2 rounds)");
}

TEST(RoundFigures, precision_is_half_an_interval_or_a_range) {
    const auto text = [](double value) { return std::to_string(std::lround(value)); };
    EXPECT_EQ(precision_text(std::vector{7.0}, text), "");
    EXPECT_EQ(precision_text(std::vector{9.0, 7.0, 8.0, 8.0}, text), " (7 to 9)");
    // Deviation 10, t(4) = 2.776, over the root of 5: 12.4.
    const double d = 10 * std::sqrt(2.0);
    EXPECT_EQ(precision_text(std::vector{-d, 0.0, 0.0, 0.0, d}, text), " ± 12");
}

TEST(RoundFigures, one_round_has_no_interval_and_says_why) {
    RoundFigures rounds;
    rounds.add(rate("a", 9));
    rounds.end_round();
    const Figure a = rounds.figures().front();
    EXPECT_EQ(a.metric.value, 9);
    EXPECT_FALSE(a.samples);
    EXPECT_EQ(a.detail["interval"]["method"], nullptr);
    EXPECT_NE(a.detail["interval"]["none"].get<std::string>().find("--rounds"), std::string::npos);
    EXPECT_EQ(interval_text(a), "");
}

TEST(RoundFigures, a_value_that_is_missing_once_is_missing) {
    RoundFigures rounds;
    rounds.add(rate("a", 9));
    rounds.end_round();
    Figure none = rate("a", 0);
    none.metric = Metric::none("B/s", "messages arrived wrong");
    rounds.add(none);
    rounds.end_round();
    rounds.add(rate("a", 9));
    rounds.end_round();
    const Figure a = rounds.figures().front();
    EXPECT_EQ(a.metric.reason, "messages arrived wrong");
    EXPECT_FALSE(a.samples);
}

TEST(RoundFigures, a_drift_is_a_reason) {
    RoundFigures rounds;
    for (const double value : {1.0, 2.0, 3.0, 11.0, 12.0, 13.0}) {
        rounds.add(rate("a", value));
        rounds.end_round();
    }
    const Figure a = rounds.figures().front();
    EXPECT_EQ(a.detail["interval"]["drift"], true);
    EXPECT_EQ(a.detail["interval"]["unreliable"], true);
    ASSERT_EQ(a.reasons.size(), 1U);
    EXPECT_NE(a.reasons.front().find("may be unreliable"), std::string::npos);
}

TEST(RoundFigures, a_mean_shows_its_samples) {
    Figure f;
    f.metric = Metric::rate(0);
    const Json none = mean_of(f, {}, "nothing was measured").to_json();
    EXPECT_EQ(none["metric"]["reason"], "nothing was measured");
    EXPECT_FALSE(none.contains("samples"));
    const Json one = mean_of(f, std::vector{4.0}, "").to_json();
    EXPECT_EQ(one["metric"]["value"], 4.0);
    EXPECT_EQ(one["samples"], (Json{{"count", 1},
                                    {"min", 4.0},
                                    {"max", 4.0},
                                    {"deviation", nullptr},
                                    {"low95", nullptr},
                                    {"high95", nullptr}}));
    // 3 and 5: deviation sqrt(2), and too few for an interval.
    const Json two = mean_of(f, std::vector{3.0, 5.0}, "").to_json();
    EXPECT_DOUBLE_EQ(two["samples"]["deviation"].get<double>(), std::sqrt(2.0));
    EXPECT_EQ(two["samples"]["low95"], nullptr);
    EXPECT_EQ(two["detail"]["interval"]["none"],
              "2 repetitions have a range only; an interval needs 5");
    const Json five = mean_of(f, std::vector{3.0, 5.0, 4.0, 4.0, 4.0}, "").to_json();
    const double half = 2.776445 * std::sqrt(0.5) / std::sqrt(5.0);
    EXPECT_NEAR(five["samples"]["low95"].get<double>(), 4 - half, 1e-6);
    EXPECT_NEAR(five["samples"]["high95"].get<double>(), 4 + half, 1e-6);
}

}  // namespace
}  // namespace effio
