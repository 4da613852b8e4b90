// SPDX-License-Identifier: BSD-3-Clause
#include "frame/until_ci.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/noise_terms.hpp"
#include "noise.hpp"

namespace effio {
namespace {

using Stop = UntilCi::Stop;

UntilCiOptions asked(double share, double limit = 600) {
    UntilCiOptions options;
    options.share = Share{share};
    options.limit = Seconds{limit};
    options.at_least = Seconds{0};
    return options;
}

UntilCi::Subject rate_named(const std::string& name) {
    return {"bandwidth", Json{{"access", name}}, "B/s", name};
}

UntilCi until_of(double share, const std::vector<double>& rates, std::int64_t most = 100) {
    UntilCi until(asked(share), most, 0);
    for (const double rate : rates) until.add(rate_named("write"), rate);
    return until;
}

/// Mean 10, deviation sqrt(6/9), neighbors not correlated: half width 0.918933
/// (core/sequential_test.cpp), 9.19 % of the mean.
std::vector<double> ten() {
    return {9, 10, 11, 10, 9, 11, 10, 9, 11, 10};
}
std::vector<double> equal() {
    return std::vector<double>(10, 7.0);
}

TEST(UntilCi, ten_values_are_within_their_sequential_interval_and_not_within_less) {
    EXPECT_EQ(until_of(0.0918, ten()).decide(10, 0), Stop::none);
    EXPECT_EQ(until_of(0.092, ten()).decide(10, 0), Stop::precise);
    const auto figure = until_of(0.0918, ten()).figure("test");
    EXPECT_NEAR(figure.metric.value, 0.0918933, 1e-6);
    EXPECT_NEAR(figure.detail["figures"][0]["half_width"].get<double>(), 0.918933, 1e-5);
    EXPECT_EQ(figure.detail["figures"][0]["mean"], 10.0);
    EXPECT_FALSE(figure.detail["figures"][0]["within"].get<bool>());
}

TEST(UntilCi, equal_values_are_enough_after_ten_and_not_before) {
    EXPECT_EQ(until_of(0.05, std::vector<double>(9, 7.0)).decide(9, 0), Stop::none);
    EXPECT_EQ(until_of(0.05, equal()).decide(10, 0), Stop::precise);
}

TEST(UntilCi, nothing_is_narrow_enough_before_the_least_time) {
    auto options = asked(0.05);
    options.at_least = Seconds{10};
    UntilCi until(options, 100, 0);
    for (const double rate : equal()) until.add(rate_named("write"), rate);
    EXPECT_EQ(until.decide(10, 9.9), Stop::none);
    EXPECT_EQ(until.decide(10, 10), Stop::precise);
    EXPECT_EQ(UntilCiOptions().least_seconds(), 10);
}

TEST(UntilCi, no_stop_while_anything_speaks_against_the_mean) {
    // Two of ten at twice the level of the others, nearly without noise.
    auto modes = until_of(0.9, {100, 101, 99, 200, 100, 102, 201, 99, 101, 98});
    EXPECT_EQ(modes.decide(10, 0), Stop::none);
    EXPECT_TRUE(modes.wide().empty());
    ASSERT_EQ(modes.odd().size(), 1U);
    EXPECT_FALSE(modes.figure("test").valid.value());
    EXPECT_TRUE(modes.figure("test").detail["figures"][0]["two_modes"].get<bool>());
    EXPECT_NE(modes.text().find("write: 10 values in two modes"), std::string::npos);
    auto outlier = until_of(0.9, {100, 101, 99, 100, 500, 102, 101, 99, 101, 98});
    EXPECT_EQ(outlier.decide(10, 0), Stop::none);
    EXPECT_NE(outlier.text().find("write: 1 of 10 values is an outlier"), std::string::npos);
    // A drift: the halves differ far more than chance explains.
    EXPECT_EQ(until_of(0.9, {10, 11, 12, 10, 11, 15, 16, 17, 15, 16}).decide(10, 0), Stop::none);
}

TEST(UntilCi, the_widest_interval_decides) {
    auto until = until_of(0.05, equal());
    for (const double rate : ten()) until.add(rate_named("read"), rate);
    EXPECT_EQ(until.decide(10, 0), Stop::none);
    ASSERT_EQ(until.wide().size(), 1U);
    EXPECT_EQ(until.wide().front()->subject.text, "read");
    EXPECT_NEAR(until.figure("test").metric.value, 0.0918933, 1e-6);
}

TEST(UntilCi, a_figure_that_misses_a_repetition_needs_its_own_ten) {
    auto until = until_of(0.05, equal());
    for (int i = 0; i < 9; ++i) until.add(rate_named("read"), 8);
    EXPECT_EQ(until.decide(10, 0), Stop::none);
    until.add(rate_named("read"), 8);
    EXPECT_EQ(until.decide(11, 0), Stop::precise);
}

TEST(UntilCi, limits_stop_what_is_too_wide) {
    EXPECT_EQ(until_of(0.05, ten(), 11).decide(10, 0), Stop::none);
    EXPECT_EQ(until_of(0.05, ten(), 10).decide(10, 0), Stop::repetitions);
    EXPECT_EQ(until_of(0.05, ten()).decide(10, 599.9), Stop::none);
    EXPECT_EQ(until_of(0.05, ten()).decide(10, 600), Stop::time);
    EXPECT_EQ(until_of(0.05, {9}).decide(1, 600), Stop::time);
    // What is precise was not stopped by a limit that came at the same time.
    EXPECT_EQ(until_of(0.05, equal(), 10).decide(10, 600), Stop::precise);
    EXPECT_EQ(UntilCi(asked(0.05), 100, 0).decide(10, 0), Stop::nothing);
    EXPECT_EQ(UntilCi(asked(0.05, 0), 100, 0).decide(1, 1e9), Stop::none);
}

TEST(UntilCi, one_value_has_no_interval) {
    const auto figure = until_of(0.05, {9}).figure("test");
    EXPECT_EQ(figure.metric.to_json()["value"], nullptr);
    EXPECT_EQ(figure.detail["figures"][0]["half_width_share"], nullptr);
}

TEST(UntilCi, a_drift_is_reported_and_noise_is_not) {
    // Halves 1, 2, 3 and 11, 12, 13: means 10 apart, deviations 1, t = 10 / sqrt(2/3) = 12.2 with 4
    // degrees of freedom: by chance in 0.03 % of all cases.
    const auto drifts = until_of(0.5, {1, 2, 3, 11, 12, 13});
    ASSERT_EQ(drifts.drifting().size(), 1U);
    EXPECT_FALSE(drifts.figure("test").valid.value());
    EXPECT_NE(drifts.text().find("DRIFT"), std::string::npos);
    EXPECT_TRUE(until_of(0.5, {1, 2, 3, 1, 2, 3}).drifting().empty());
    // The one in the middle belongs to neither half; below four there are no halves.
    EXPECT_TRUE(until_of(0.5, {1, 2, 3, 100, 1, 2, 3}).drifting().empty());
    EXPECT_TRUE(until_of(0.5, {1, 2, 30}).drifting().empty());
}

TEST(UntilCi, many_figures_share_the_twentieth_of_false_alarms) {
    // 0, 2, 4 and 5, 7, 9: t = 5 / sqrt(8/3) = 3.06 with 4 degrees of freedom: 3.8 %.
    auto until = until_of(0.5, {0, 2, 4, 5, 7, 9});
    EXPECT_EQ(until.drifting().size(), 1U);
    for (int i = 0; i < 6; ++i) until.add(rate_named("read"), 1);
    EXPECT_TRUE(until.drifting().empty());
}

TEST(UntilCi, what_was_not_kept_is_said_by_figure) {
    auto until = until_of(0.05, ten(), 10);
    const auto text = until.text();
    EXPECT_NE(text.find("NOT KEPT"), std::string::npos);
    EXPECT_NE(text.find("write: 10 B/s ± 9.19 % (of 10 values)"), std::string::npos) << text;
}

TEST(UntilCi, the_number_of_repetitions_is_the_most) {
    std::int64_t most = 1;
    auto options = asked(0.05);
    ASSERT_TRUE(options.check(most, "--repetitions"));
    EXPECT_EQ(most, 100);
    options.most_given = true;
    most = 17;
    ASSERT_TRUE(options.check(most, "--repetitions"));
    EXPECT_EQ(most, 17);
    most = 9;
    const auto few = options.check(most, "--repetitions");
    ASSERT_FALSE(few);
    EXPECT_NE(few.error().cause.find("--repetitions 9"), std::string::npos);
    UntilCiOptions off;
    most = 1;
    ASSERT_TRUE(off.check(most, "--repetitions"));
    EXPECT_EQ(most, 1);
    off.limit = Seconds{3};
    EXPECT_FALSE(off.check(most, "--repetitions"));
    off.limit.reset();
    off.at_least = Seconds{3};
    EXPECT_FALSE(off.check(most, "--repetitions"));
}

TEST(UntilCi, a_plan_shows_the_least_and_the_most) {
    // 40 s each and a limit of 600 s: fifteen start within it.
    const auto span = asked(0.05).predict(100, "repetition", 40);
    EXPECT_EQ(span.least_seconds, 400);
    EXPECT_EQ(span.most_seconds, 600);
    EXPECT_NE(span.repetitions.find("at least 10 and at most 100 repetitions"), std::string::npos);
    EXPECT_EQ(asked(0.05).predict(11, "repetition", 10).most_seconds, 110);
    // Ten of 0.1 s are shorter than the minimum time.
    auto longer = asked(0.05);
    longer.at_least = Seconds{3};
    EXPECT_DOUBLE_EQ(longer.predict(100, "repetition", 0.1).least_seconds, 3);
    EXPECT_EQ(asked(0.05, 0).predict(50, "repetition", 100).most_seconds, 5000);
    // The first one takes longer than the limit.
    EXPECT_EQ(asked(0.05).predict(100, "repetition", 700).least_seconds, 700);
    const auto fixed = UntilCiOptions().predict(4, "repetition", 10);
    EXPECT_EQ(fixed.repetitions, "4 repetitions");
    EXPECT_EQ(fixed.least_seconds, 40);
    EXPECT_EQ(fixed.most_seconds, 40);
}

TEST(UntilCi, a_composed_value_brings_all_its_values_anew) {
    UntilCi until(asked(0.05), 100, 0);
    until.set(rate_named("whole"), ten());
    EXPECT_EQ(until.decide(10, 0), Stop::none);
    until.set(rate_named("whole"), {});
    EXPECT_EQ(until.decide(10, 0), Stop::none);  // known, without a value yet
    until.set(rate_named("whole"), std::vector<double>(11, 10.0));
    EXPECT_EQ(until.decide(11, 0), Stop::precise);
    EXPECT_EQ(until.figure("test").detail["figures"][0]["count"], 11);
}

TEST(UntilCi, which_figure_is_wide) {
    auto until = until_of(0.05, ten());
    until.set({"other", Json::object(), "B/s", "other"}, equal());
    EXPECT_TRUE(until.is_wide("bandwidth"));
    EXPECT_FALSE(until.is_wide("other"));
    EXPECT_TRUE(until.is_wide("unknown"));
}

TEST(UntilCi, the_expected_number_follows_from_the_width) {
    // After ten the half width is 0.0918933 of the mean: 10 (0.0918933 / 0.05)^2 = 33.8.
    EXPECT_EQ(until_of(0.05, ten()).expected(), 34);
    EXPECT_EQ(until_of(0.05, ten(), 12).expected(), 12);  // not above the maximum
    EXPECT_EQ(until_of(0.1, {9}).expected(), 10);         // nothing is known
    EXPECT_EQ(until_of(0.1, equal()).expected(), 10);
    EXPECT_EQ(UntilCi(UntilCiOptions(), 12, 0).expected(), 12);
}

TEST(UntilCi, autocorrelated_values_are_reported) {
    // Ten of 9, ten of 11: worth half a value (core/rounds_test.cpp).
    std::vector<double> steps(20, 9);
    std::fill(steps.begin() + 10, steps.end(), 11);
    const auto until = until_of(0.5, steps);
    ASSERT_EQ(until.correlated().size(), 1U);
    EXPECT_NE(until.text().find("NEIGHBOURS ARE AUTOCORRELATED"), std::string::npos);
    EXPECT_FALSE(until.figure("test").valid.value());
    EXPECT_TRUE(until_of(0.5, {9, 10, 11}).correlated().empty());
}

struct Coverage {
    double true_value = 0;  ///< share of the runs whose interval holds it
    double repetitions = 0;
    double drifts = 0;  ///< share of the runs that report one
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
        if (!stops && std::abs(interval.mean - 100) <= interval.half_width) {
            found.true_value += 1.0 / runs;
        }
        found.repetitions += static_cast<double>(done) / runs;
        if (!until.drifting().empty()) found.drifts += 1.0 / runs;
    }
    return found;
}

TEST(UntilCi, a_fixed_number_of_repetitions_holds_the_true_value_in_95_of_100_runs) {
    for (const std::int64_t count : {5, 10, 30}) {
        const auto found = coverage(0.05, 10, count, false);
        EXPECT_GE(found.true_value, 0.93) << count;
        EXPECT_LE(found.true_value, 0.97) << count;
    }
}

TEST(UntilCi, noise_without_a_drift_is_called_one_in_a_twentieth_of_the_runs) {
    EXPECT_NEAR(coverage(0.05, 10, 20, false).drifts, 0.05, 0.02);
}

struct Stops {
    double stopped = 0;  ///< share of the runs that found an interval narrow enough in 120 values
    double true_value = 0;  ///< share of these whose interval holds the true mean
    double repetitions = 0;
};

/// Runs of `--until-ci 5%` with a kind of noise (core/noise_terms.hpp).
Stops stops(const std::string& kind, double true_mean, int runs = 200) {
    constexpr std::int64_t most = 120;
    const auto terms = *NoiseTerms::parse(kind);
    Stops found;
    for (int run = 0; run < runs; ++run) {
        NoiseFactors noise(terms, 1000 + static_cast<std::uint64_t>(run), 0);
        // Each run starts at another place within waves and regimes.
        for (int skipped = 0; skipped < run % 40; ++skipped) noise.next();
        UntilCi until(asked(0.05), most, 0);
        std::vector<double> values;
        Stop stop = Stop::none;
        while (stop == Stop::none) {
            values.push_back(noise.next());
            until.add(rate_named("write"), values.back());
            stop = until.decide(static_cast<std::int64_t>(values.size()), 0);
        }
        if (stop != Stop::precise) continue;
        found.stopped += 1;
        found.repetitions += static_cast<double>(values.size());
        const auto interval = *sequential_interval(values);
        if (std::abs(interval.mean - true_mean) <= interval.half_width) found.true_value += 1;
    }
    if (found.stopped > 0) {
        found.true_value /= found.stopped;
        found.repetitions /= found.stopped;
    }
    found.stopped /= runs;
    return found;
}

TEST(UntilCi, an_interval_that_ended_a_run_holds_the_mean_as_often_as_the_documentation_says) {
    // The numbers of docs/reading.md, "How many repetitions": independent and correlated noise.
    struct Row {
        const char* kind;
        double stopped;
        double true_value;  ///< at least
        double repetitions;
    };
    for (const Row& row : {Row{"0.02", 0.95, 0.97, 12}, Row{"0.05", 0.95, 0.97, 15},
                           Row{"0.1", 0.95, 0.97, 44}, Row{"ar:0.1:0.5", 0.4, 0.9, 70}}) {
        const auto found = stops(row.kind, 1);
        EXPECT_GE(found.stopped, row.stopped) << row.kind;
        EXPECT_GE(found.true_value, row.true_value) << row.kind;
        EXPECT_NEAR(found.repetitions, row.repetitions, 0.2 * row.repetitions) << row.kind;
    }
    // Runs with two modes or waves rarely stop early; a level that has not occurred cannot be
    // known.
    for (const char* kind : {"0.03+bimodal:0.2:2", "0.03+sine:30:0.15"}) {
        EXPECT_LE(stops(kind, 1).stopped, 0.15) << kind;
    }
}

}  // namespace
}  // namespace effio
