// SPDX-License-Identifier: BSD-3-Clause
// From experiments to b_eff (docs/definitions/b-eff.md, The result), with numbers worked manually.
#include <gtest/gtest.h>

#include <cmath>

#include "benchmarks/b_eff/result.hpp"

namespace effio::b_eff {
namespace {

Setup setup_of(int ranks, int repetitions, int random) {
    b_eff::Setup s;
    s.ranks = ranks;
    s.parameters.repetitions_asked = repetitions;
    s.parameters.random_asked = random;
    s.patterns = pattern_table(ranks, random, true);
    return s;
}

void put(Experiment& experiment, double rate) {
    if (experiment.state == Experiment::State::no_method) return;
    experiment.state = Experiment::State::measured;
    experiment.rate = rate;
}

/// Every experiment of pattern i has the rate 2^i.
RunResult powers_of_two(int ranks = 8, int repetitions = 2, int random = 2) {
    RunResult run(setup_of(ranks, repetitions, random));
    for (int r = 0; r < repetitions; ++r) {
        for (int length = 0; length < length_count; ++length) {
            for (std::size_t p = 0; p < run.pattern_count(); ++p) {
                for (int m = 0; m < method_count; ++m) {
                    put(run.experiment(r, length, p, m), std::exp2(static_cast<double>(p)));
                }
            }
        }
    }
    run.complete = true;
    return run;
}

TEST(Averages, b_eff_is_the_geometric_mean_of_rings_and_random_rings) {
    const RunResult run = powers_of_two();
    const Means m = effective_bandwidth(run);
    // Rings 2^0…2^5: 2^2.5; random 2^6, 2^7: 2^6.5; both: 2^4.5. The others do not count.
    EXPECT_DOUBLE_EQ(m.rings, std::exp2(2.5));
    EXPECT_DOUBLE_EQ(m.random, std::exp2(6.5));
    EXPECT_DOUBLE_EQ(m.both, std::exp2(4.5));
}

TEST(Averages, the_best_method_and_repetition_of_each_length_count) {
    RunResult run = powers_of_two();
    // Pattern 0 has 1 everywhere. At length 3 another method, at length 7 another repetition is
    // better: (19 + 22 + 43) / 21 = 4.
    put(run.experiment(0, 3, 0, 2), 22);
    put(run.experiment(1, 7, 0, 0), 43);
    EXPECT_DOUBLE_EQ(run.pattern_average(0), 4);
    EXPECT_DOUBLE_EQ(run.pattern_average(0, {2, {}}), (20 + 22) / 21.0);
    EXPECT_DOUBLE_EQ(run.pattern_average(0, {1, {}}), 1);
    EXPECT_DOUBLE_EQ(run.pattern_average(0, {{}, 0}), (20 + 22) / 21.0);
    EXPECT_DOUBLE_EQ(run.pattern_average(0, {{}, 1}), (20 + 43) / 21.0);
    EXPECT_DOUBLE_EQ(effective_bandwidth(run).both, std::exp2(4.5) * std::pow(4.0, 1.0 / 12));
    EXPECT_DOUBLE_EQ(bandwidth_at(run, 3).rings, std::exp2(2.5) * std::pow(22.0, 1.0 / 6));
}

TEST(Averages, an_invalid_experiment_does_not_count) {
    RunResult run = powers_of_two();
    Experiment& experiment = run.experiment(0, 3, 0, 2);
    put(experiment, 1000);
    experiment.invalid = "1 wrong message";
    EXPECT_DOUBLE_EQ(run.pattern_average(0), 1);
}

TEST(Averages, latencies_are_ranks_over_bandwidth_at_one_byte) {
    RunResult run = powers_of_two();
    put(run.experiment(1, 0, 11, 0), 4000);  // the ping-pong pair: 4000 messages a second
    put(run.experiment(0, 20, 11, 0), 5e9);
    const Summary s = summarize(run);
    EXPECT_EQ(run.setup.patterns[11].family, Family::ping_pong);
    EXPECT_DOUBLE_EQ(s.latency, 8 / std::exp2(4.5));
    EXPECT_DOUBLE_EQ(s.ring_latency, 8 / std::exp2(2.5));
    EXPECT_DOUBLE_EQ(s.ping_pong_latency, 1 / 4000.0);
    EXPECT_DOUBLE_EQ(s.ping_pong_bandwidth, 5e9);
}

TEST(Averages, the_interval_comes_from_the_repetitions) {
    RunResult run = powers_of_two();
    // In the second repetition everything is three times as fast.
    for (int length = 0; length < length_count; ++length) {
        for (std::size_t p = 0; p < run.pattern_count(); ++p) {
            for (int m = 0; m < method_count; ++m) {
                put(run.experiment(1, length, p, m), 3 * std::exp2(static_cast<double>(p)));
            }
        }
    }
    const Uncertainty u = uncertainty(run);
    const double one = std::exp2(4.5);
    ASSERT_EQ(u.by_repetition.size(), 2U);
    EXPECT_DOUBLE_EQ(u.by_repetition[1], 3 * one);
    EXPECT_DOUBLE_EQ(u.mean, 2 * one);
    EXPECT_DOUBLE_EQ(u.spread, 1);
    EXPECT_FALSE(u.half_width);     // of two values
    EXPECT_FALSE(u.random_factor);  // of two random rings
    // One repetition has no interval, which is not an interval of 0.
    const Uncertainty unknown = uncertainty(powers_of_two(8, 1));
    EXPECT_EQ(unknown.by_repetition.size(), 1U);
    EXPECT_FALSE(unknown.half_width);
}

// Random rings 2^6 to 2^10: logarithms of a deviation of sqrt(2.5) ln 2, t(4) = 2.776.
TEST(Averages, five_random_rings_have_an_interval) {
    const Uncertainty u = uncertainty(powers_of_two(8, 2, 5));
    ASSERT_TRUE(u.random_factor);
    EXPECT_NEAR(std::log(*u.random_factor), 2.776 * std::sqrt(0.5) * std::log(2.0) / 2, 0.001);
    EXPECT_FALSE(uncertainty(powers_of_two(8, 2, 4)).random_factor);
}

TEST(Averages, an_official_run_has_everything) {
    RunResult run = powers_of_two();
    EXPECT_FALSE(valid(run));  // 2 repetitions, 2 random rings
    b_eff::Setup s;
    s.patterns = pattern_table(2, official_random_patterns, true);
    RunResult official(s);
    EXPECT_FALSE(valid(official));
    official.complete = true;
    EXPECT_TRUE(valid(official));
    official.errors = 1;
    EXPECT_FALSE(valid(official));
}

}  // namespace
}  // namespace effio::b_eff
