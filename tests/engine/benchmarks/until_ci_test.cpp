// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/until_ci.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "noise.hpp"

namespace effio {
namespace {

using Stop = UntilCi::Stop;

UntilCiOptions asked(double share, double limit = 600) {
    UntilCiOptions options;
    options.share = Share{share};
    options.limit = Seconds{limit};
    return options;
}

UntilCi::Subject rate_named(const std::string& name) {
    return {"bandwidth", Json{{"access", name}}, "B/s", name};
}

UntilCi told(double share, const std::vector<double>& rates, std::int64_t most = 100) {
    UntilCi until(asked(share), most, 0);
    for (const double rate : rates) until.add(rate_named("write"), rate);
    return until;
}

TEST(UntilCi, nine_ten_eleven_are_within_a_quarter_and_not_within_less) {
    // Mean 10, deviation 1, t(2) = 4.30265: half width 4.30265 / sqrt(3) = 2.48414.
    EXPECT_EQ(told(0.24, {9, 10, 11}).decide(3, 0), Stop::none);
    EXPECT_EQ(told(0.249, {9, 10, 11}).decide(3, 0), Stop::precise);
    const auto figure = told(0.24, {9, 10, 11}).figure("test");
    EXPECT_NEAR(figure.metric.value, 0.248414, 1e-6);
    EXPECT_NEAR(figure.detail["figures"][0]["half_width"].get<double>(), 2.48414, 1e-5);
    EXPECT_EQ(figure.detail["figures"][0]["mean"], 10.0);
    EXPECT_FALSE(figure.detail["figures"][0]["within"].get<bool>());
}

TEST(UntilCi, equal_values_are_enough_after_three_and_not_before) {
    EXPECT_EQ(told(0.05, {7, 7}).decide(2, 0), Stop::none);
    EXPECT_EQ(told(0.05, {7, 7, 7}).decide(3, 0), Stop::precise);
}

TEST(UntilCi, the_widest_interval_decides) {
    auto until = told(0.05, {7, 7, 7});
    for (const double rate : {9, 10, 11}) until.add(rate_named("read"), rate);
    EXPECT_EQ(until.decide(3, 0), Stop::none);
    ASSERT_EQ(until.wide().size(), 1U);
    EXPECT_EQ(until.wide().front()->subject.text, "read");
    EXPECT_NEAR(until.figure("test").metric.value, 0.248414, 1e-6);
}

TEST(UntilCi, a_figure_that_misses_a_repetition_needs_three_of_its_own) {
    auto until = told(0.05, {7, 7, 7});
    until.add(rate_named("read"), 8);
    until.add(rate_named("read"), 8);
    EXPECT_EQ(until.decide(3, 0), Stop::none);
    until.add(rate_named("read"), 8);
    EXPECT_EQ(until.decide(4, 0), Stop::precise);
}

TEST(UntilCi, limits_stop_what_is_too_wide) {
    const std::vector<double> wide{9, 10, 11};
    EXPECT_EQ(told(0.05, wide, 4).decide(3, 0), Stop::none);
    EXPECT_EQ(told(0.05, wide, 3).decide(3, 0), Stop::repetitions);
    EXPECT_EQ(told(0.05, wide).decide(3, 599.9), Stop::none);
    EXPECT_EQ(told(0.05, wide).decide(3, 600), Stop::time);
    EXPECT_EQ(told(0.05, {9}).decide(1, 600), Stop::time);
    // What is precise was not stopped by a limit that came at the same time.
    EXPECT_EQ(told(0.05, {7, 7, 7}, 3).decide(3, 600), Stop::precise);
    EXPECT_EQ(UntilCi(asked(0.05), 100, 0).decide(3, 0), Stop::nothing);
    EXPECT_EQ(UntilCi(asked(0.05, 0), 100, 0).decide(1, 1e9), Stop::none);
}

TEST(UntilCi, one_value_has_no_interval) {
    const auto figure = told(0.05, {9}).figure("test");
    EXPECT_EQ(figure.metric.to_json()["value"], nullptr);
    EXPECT_EQ(figure.detail["figures"][0]["half_width_share"], nullptr);
}

TEST(UntilCi, a_drift_is_told_and_noise_is_not) {
    // Halves 1, 2, 3 and 11, 12, 13: means 10 apart, deviations 1, t = 10 / sqrt(2/3) = 12.2 with 4
    // degrees of freedom: by chance in 0.03 % of all cases.
    const auto drifts = told(0.5, {1, 2, 3, 11, 12, 13});
    ASSERT_EQ(drifts.drifting().size(), 1U);
    EXPECT_FALSE(drifts.figure("test").valid.value());
    EXPECT_NE(drifts.text().find("DRIFT"), std::string::npos);
    EXPECT_TRUE(told(0.5, {1, 2, 3, 1, 2, 3}).drifting().empty());
    // The one in the middle belongs to neither half; below four there are no halves.
    EXPECT_TRUE(told(0.5, {1, 2, 3, 100, 1, 2, 3}).drifting().empty());
    EXPECT_TRUE(told(0.5, {1, 2, 30}).drifting().empty());
}

TEST(UntilCi, many_figures_share_the_twentieth_of_false_alarms) {
    // 0, 2, 4 and 5, 7, 9: t = 5 / sqrt(8/3) = 3.06 with 4 degrees of freedom: 3.8 %.
    auto until = told(0.5, {0, 2, 4, 5, 7, 9});
    EXPECT_EQ(until.drifting().size(), 1U);
    for (int i = 0; i < 6; ++i) until.add(rate_named("read"), 1);
    EXPECT_TRUE(until.drifting().empty());
}

TEST(UntilCi, what_was_not_kept_is_said_by_figure) {
    auto until = told(0.05, {9, 10, 11}, 3);
    const auto text = until.text();
    EXPECT_NE(text.find("NOT KEPT"), std::string::npos);
    EXPECT_NE(text.find("write: 10 B/s ± 24.8 % (of 3 values)"), std::string::npos) << text;
}

TEST(UntilCi, the_number_of_repetitions_is_the_most) {
    std::int64_t most = 1;
    auto options = asked(0.05);
    ASSERT_TRUE(options.check(most, "--repetitions"));
    EXPECT_EQ(most, 100);
    options.most_given = true;
    most = 7;
    ASSERT_TRUE(options.check(most, "--repetitions"));
    EXPECT_EQ(most, 7);
    most = 2;
    const auto few = options.check(most, "--repetitions");
    ASSERT_FALSE(few);
    EXPECT_NE(few.error().cause.find("--repetitions 2"), std::string::npos);
    UntilCiOptions off;
    most = 1;
    ASSERT_TRUE(off.check(most, "--repetitions"));
    EXPECT_EQ(most, 1);
    off.limit = Seconds{3};
    EXPECT_FALSE(off.check(most, "--repetitions"));
}

TEST(UntilCi, a_plan_tells_the_least_and_the_most) {
    // 100 s each, 600 s: six begin within the limit.
    const auto span = asked(0.05).foretell(100, "repetition", 100);
    EXPECT_EQ(span.least_seconds, 300);
    EXPECT_EQ(span.most_seconds, 600);
    EXPECT_NE(span.repetitions.find("at least 3 and at most 100 repetitions"), std::string::npos);
    EXPECT_EQ(asked(0.05).foretell(4, "repetition", 10).most_seconds, 40);
    EXPECT_EQ(asked(0.05, 0).foretell(50, "repetition", 100).most_seconds, 5000);
    // The first one takes longer than the limit.
    EXPECT_EQ(asked(0.05).foretell(100, "repetition", 700).least_seconds, 700);
    const auto fixed = UntilCiOptions().foretell(4, "repetition", 10);
    EXPECT_EQ(fixed.repetitions, "4 repetitions");
    EXPECT_EQ(fixed.least_seconds, 40);
    EXPECT_EQ(fixed.most_seconds, 40);
}

TEST(UntilCi, a_composed_value_brings_all_its_values_anew) {
    UntilCi until(asked(0.05), 100, 0);
    until.set(rate_named("whole"), {9, 10, 11});
    EXPECT_EQ(until.decide(3, 0), Stop::none);
    until.set(rate_named("whole"), {});
    EXPECT_EQ(until.decide(3, 0), Stop::none);  // known, without a value yet
    until.set(rate_named("whole"), {10, 10, 10, 10});
    EXPECT_EQ(until.decide(4, 0), Stop::precise);
    EXPECT_EQ(until.figure("test").detail["figures"][0]["count"], 4);
}

TEST(UntilCi, which_figure_is_wide) {
    auto until = told(0.05, {9, 10, 11});
    until.set({"other", Json::object(), "B/s", "other"}, {7, 7, 7});
    EXPECT_TRUE(until.is_wide("bandwidth"));
    EXPECT_FALSE(until.is_wide("other"));
    EXPECT_TRUE(until.is_wide("unknown"));
}

TEST(UntilCi, the_expected_number_follows_from_the_width) {
    // Half width 0.248414 of the mean after three: 3 (0.248414 / 0.1)^2 = 18.5.
    EXPECT_EQ(told(0.1, {9, 10, 11}).expected(), 19);
    EXPECT_EQ(told(0.1, {9, 10, 11}, 12).expected(), 12);  // no more than the most
    EXPECT_EQ(told(0.1, {9}).expected(), 3);               // nothing is known
    EXPECT_EQ(told(0.1, {7, 7, 7}).expected(), 3);
    EXPECT_EQ(UntilCi(UntilCiOptions(), 12, 0).expected(), 12);
}

TEST(UntilCi, values_that_hang_together_are_told) {
    // Ten of 9, ten of 11: worth half a value (core/rounds_test.cpp).
    std::vector<double> steps(20, 9);
    std::fill(steps.begin() + 10, steps.end(), 11);
    const auto until = told(0.5, steps);
    ASSERT_EQ(until.clinging().size(), 1U);
    EXPECT_NE(until.text().find("NEIGHBOURS HANG TOGETHER"), std::string::npos);
    EXPECT_FALSE(until.figure("test").valid.value());
    EXPECT_TRUE(told(0.5, {9, 10, 11}).clinging().empty());
}

struct Coverage {
    double true_value = 0;  ///< share of the runs whose interval holds it
    double repetitions = 0;
    double drifts = 0;  ///< share of the runs that tell of one
};

Coverage coverage(double share, double noise, std::int64_t most, bool stops, int runs = 1000) {
    Gaussian rates(20061107);
    Coverage found;
    for (int run = 0; run < runs; ++run) {
        UntilCi until(asked(share), most, 0);
        std::vector<double> values;
        std::int64_t done = 0;
        do {
            values.push_back(100 + noise * rates.next());
            until.add(rate_named("write"), values.back());
            ++done;
        } while (done < most && (!stops || until.decide(done, 0) == Stop::none));
        const auto interval = *interval_of_rounds(values);
        if (std::abs(interval.mean - 100) <= interval.half_width) {
            found.true_value += 1.0 / runs;
        }
        found.repetitions += static_cast<double>(done) / runs;
        if (!until.drifting().empty()) found.drifts += 1.0 / runs;
    }
    return found;
}

TEST(UntilCi, a_fixed_number_of_repetitions_holds_the_true_value_in_95_of_100_runs) {
    for (const std::int64_t count : {3, 5, 10, 30}) {
        const auto found = coverage(0.05, 10, count, false);
        EXPECT_GE(found.true_value, 0.93) << count;
        EXPECT_LE(found.true_value, 0.97) << count;
    }
}

TEST(UntilCi, noise_without_a_drift_is_called_one_in_a_twentieth_of_the_runs) {
    EXPECT_NEAR(coverage(0.05, 10, 20, false).drifts, 0.05, 0.02);
}

TEST(UntilCi, stopping_at_a_narrow_interval_holds_it_less_often_as_the_documentation_says) {
    // docs/reading.md, How many repetitions: who stops where the interval happens to be narrow,
    // stops too early now and then.
    struct Row {
        double noise;
        double true_value;
        double repetitions;
    };
    for (const Row& row :
         {Row{2, 0.951, 3.4}, Row{5, 0.922, 6.1}, Row{10, 0.905, 16.5}, Row{20, 0.937, 64.6}}) {
        const auto found = coverage(0.05, row.noise, 1000, true, 4000);
        EXPECT_NEAR(found.true_value, row.true_value, 0.015) << row.noise;
        EXPECT_NEAR(found.repetitions, row.repetitions, 0.05 * row.repetitions) << row.noise;
    }
}

}  // namespace
}  // namespace effio
