// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/round_figures.hpp"

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

TEST(RoundFigures, the_mean_of_the_rounds_with_its_interval) {
    RoundFigures rounds;
    for (const double value : {9.0, 10.0, 11.0}) {
        rounds.add(rate("a", value));
        if (value < 11) rounds.add(rate("b", 7));
        rounds.end_round();
    }
    const auto figures = rounds.figures();
    ASSERT_EQ(figures.size(), 2U);
    EXPECT_EQ(rounds.rounds(), 3);
    const Figure& a = figures[0];
    EXPECT_DOUBLE_EQ(a.metric.value, 10);
    EXPECT_EQ(a.samples->count, 3);
    EXPECT_EQ(a.samples->min, 9);
    EXPECT_NEAR(*a.samples->high95, 10 + 4.30265 / std::sqrt(3), 1e-5);
    EXPECT_EQ(a.detail["interval"]["rounds"], 3);
    EXPECT_EQ(a.detail["interval"]["drift"], false);
    EXPECT_EQ(interval_text(a), "± 24.8 % (95 %, 3 rounds)");
    EXPECT_EQ(figures[1].samples->count, 2);  // a part that was not measured in each round
    EXPECT_EQ(interval_text(figures[1]), "± 0 % (95 %, 2 rounds)");
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
    EXPECT_EQ(a.detail["interval"]["may_be_untrue"], true);
    ASSERT_EQ(a.reasons.size(), 1U);
    EXPECT_NE(a.reasons.front().find("may be untrue"), std::string::npos);
}

TEST(RoundFigures, a_mean_tells_what_it_stands_on) {
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
    // 3 and 5: deviation sqrt(2), t(1) = 12.7062 times 1.
    const Json two = mean_of(f, std::vector{3.0, 5.0}, "").to_json();
    EXPECT_DOUBLE_EQ(two["samples"]["deviation"].get<double>(), std::sqrt(2.0));
    EXPECT_NEAR(two["samples"]["low95"].get<double>(), 4 - 12.7062, 1e-9);
    EXPECT_NEAR(two["samples"]["high95"].get<double>(), 4 + 12.7062, 1e-9);
}

}  // namespace
}  // namespace effio
