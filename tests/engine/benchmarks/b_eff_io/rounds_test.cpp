// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/rounds.hpp"

#include <gtest/gtest.h>

#include "noise.hpp"

namespace effio::b_eff_io {
namespace {

/// A round in which each type of each access that b_eff_io counts took `seconds` at a rate.
template <class Rate>
Round round_of(double seconds, const Rate& rate) {
    Round round;
    for (const Access access : all_accesses) {
        for (const Type type : all_types) {
            if (access == Access::rewrite && type != Type::scatter) continue;
            round.types[index(access)][index(type)] =
                Portion{seconds * rate(access, type), seconds};
        }
    }
    return round;
}
Round round_of(double rate) {
    return round_of(1, [=](Access, Type) { return rate; });
}

Formula value_of(std::size_t partition) {
    return of_partition(partition, &Pooled::effective_bandwidth);
}

TEST(RoundsOfBeffIo, where_all_rates_are_one_it_is_their_mean) {
    // Deviation 1, t(4) = 2.776445.
    const double d = std::sqrt(2.0);
    const auto found =
        estimate({{round_of(10 - d), round_of(10), round_of(10), round_of(10), round_of(10 + d)}},
                 value_of(0));
    EXPECT_DOUBLE_EQ(found.value, 10);
    ASSERT_EQ(found.values.size(), 5U);
    EXPECT_NEAR(found.values[0], 10 - d, 1e-12);
    EXPECT_NEAR(found.values[4], 10 + d, 1e-12);
    EXPECT_NEAR(found.interval->half_width, 2.776445 / std::sqrt(5), 1e-5);
}

TEST(RoundsOfBeffIo, times_weigh) {
    // 10 B in 1 s and 60 B in 3 s are 17.5 B/s.
    const auto fast = round_of(3, [](Access, Type) { return 20.0; });
    EXPECT_DOUBLE_EQ(estimate({{round_of(10), fast}}, value_of(0)).value, 17.5);
}

TEST(RoundsOfBeffIo, averages_computed_manually) {
    // Writing: scatter 6, its rewrite 12, all others 3: (6 + 12 + 4 * 3) / 6 = 5. Reading: scatter
    // 10 (twice), all others 15: (20 + 60) / 6 = 40/3.
    const auto round = round_of(1, [](Access access, Type type) {
        const bool scatter = type == Type::scatter;
        if (access == Access::read) return scatter ? 10.0 : 15.0;
        return access == Access::rewrite ? 12.0 : scatter ? 6.0 : 3.0;
    });
    const Rounds rounds{{round, round, round, round, round}};
    EXPECT_DOUBLE_EQ(estimate(rounds, of_partition(0, &Pooled::write_average)).value, 5);
    EXPECT_DOUBLE_EQ(estimate(rounds, value_of(0)).value, std::sqrt(5 * 40.0 / 3));
    const auto found =
        estimate(rounds, [](const auto& all) { return all[0].average(Access::rewrite, false); });
    EXPECT_DOUBLE_EQ(found.value, 12);
    EXPECT_NEAR(found.interval->half_width, 0, 1e-12);
}

TEST(RoundsOfBeffIo, the_best_partition_counts) {
    const Rounds rounds{{round_of(9), round_of(11)}, {round_of(19), round_of(21)}};
    const auto found = estimate(rounds, best_partition);
    EXPECT_DOUBLE_EQ(found.value, 20);
    EXPECT_NEAR(found.values[0], 19, 1e-12);
    EXPECT_NEAR(found.values[1], 21, 1e-12);
}

TEST(RoundsOfBeffIo, few_rounds_have_no_interval) {
    EXPECT_FALSE(
        estimate({{round_of(8), round_of(9), round_of(10), round_of(9)}}, value_of(0)).interval);
    EXPECT_FALSE(estimate({{round_of(9)}}, value_of(0)).interval);
    EXPECT_DOUBLE_EQ(estimate({{round_of(9)}}, value_of(0)).value, 9);
    EXPECT_FALSE(estimate({{}}, value_of(0)).interval);
    // Two rounds, but one part of one of them only.
    Round without_shared = round_of(9);
    for (auto& access : without_shared.types) access[index(Type::shared)].reset();
    EXPECT_FALSE(estimate({{round_of(9), without_shared}}, value_of(0)).interval);
}

TEST(RoundsOfBeffIo, the_next_round_measures_what_scatters) {
    const auto scattering = [](Type which, double by) {
        return round_of(1, [=](Access, Type type) { return type == which ? 10 + by : 10.0; });
    };
    constexpr std::array<double, 5> by{-1, 0, 1, -1, 1};
    Rounds rounds(1);
    for (const double one : by) rounds[0].push_back(scattering(Type::shared, one));
    const std::array<bool, 5> only_shared{false, true, false, false, false};
    EXPECT_EQ(next_round(rounds, 3).front(), only_shared);
    // Fewer rounds than the least, and equal ones: everything.
    EXPECT_EQ(next_round(rounds, 6), everything(1));
    EXPECT_EQ(next_round({std::vector<Round>(5, round_of(9))}, 3), everything(1));
    // The same scatter in both types, but segmented takes ten times as long: it brings a tenth.
    Rounds slow = rounds;
    for (std::size_t i = 0; i < by.size(); ++i) {
        for (auto& access : slow[0][i].types) {
            auto& portion = access[index(Type::segmented)];
            if (portion) portion = Portion{10.0 * (10 + by.at(i)), 10};
        }
    }
    EXPECT_EQ(next_round(slow, 3).front(), only_shared);
    // ... which is enough if a twentieth is.
    EXPECT_TRUE(next_round(slow, 3, 0.05).front()[index(Type::segmented)]);
}

TEST(RoundsOfBeffIo, a_partition_that_cannot_be_the_best_is_left_out) {
    const std::array<bool, 5> none{};
    const auto around = [](double rate) {
        std::vector<Round> all;
        for (const double away : {-1, 0, 1, 0, 0}) all.push_back(round_of(rate + away));
        return all;
    };
    const Rounds clear{around(10), around(100)};
    EXPECT_EQ(next_round(clear, 3)[0], none);
    EXPECT_NE(next_round(clear, 3)[1], none);
    const Rounds close{around(100.5), around(100)};
    EXPECT_NE(next_round(close, 3)[0], none);
    EXPECT_NE(next_round(close, 3)[1], none);
}

struct Known {
    double holds = 0;
    double width = 0;    ///< mean half width over the value
    double seconds = 0;  ///< mean of what was measured
};

/// Runs of `rounds` rounds with known rates and noise: shared scatters by 30 %, all others by 5 %,
/// and each round as a whole by 3 %.
Known known(int rounds, bool chooses, int runs = 1000) {
    Gaussian noise(11);
    const auto rate = [](Access access, Type type) {
        return 100.0 + 20 * static_cast<double>(index(type)) +
               50 * static_cast<double>(index(access));
    };
    const double truth = estimate({{round_of(1, rate)}}, value_of(0)).value;
    Known found;
    for (int run = 0; run < runs; ++run) {
        Rounds all(1);
        for (int i = 0; i < rounds; ++i) {
            const Choice chosen = chooses ? next_round(all) : everything(1);
            const double together = 1 + 0.03 * noise.next();
            Round round = round_of(1, [&](Access access, Type type) {
                const double own = type == Type::shared ? 0.3 : 0.05;
                return rate(access, type) * together * (1 + own * noise.next());
            });
            for (auto& access : round.types) {
                for (const Type type : all_types) {
                    if (!chosen[0][index(type)]) access[index(type)].reset();
                }
            }
            for (const Type type : all_types) found.seconds += round.seconds(type) / runs;
            all[0].push_back(round);
        }
        const auto e = estimate(all, value_of(0));
        if (std::abs(e.value - truth) <= e.interval->half_width) found.holds += 1.0 / runs;
        found.width += e.interval->half_width / e.value / runs;
    }
    return found;
}

TEST(RoundsOfBeffIo, known_noise_is_held_in_95_of_100_runs) {
    for (const int rounds : {5, 10}) {
        const auto found = known(rounds, false);
        EXPECT_GE(found.holds, 0.93) << rounds;
        EXPECT_LE(found.holds, 0.97) << rounds;
    }
}

TEST(RoundsOfBeffIo, choosing_what_to_measure_is_held_as_well_and_takes_less_time) {
    const auto chosen = known(15, true);
    EXPECT_GE(chosen.holds, 0.93);
    EXPECT_LE(chosen.holds, 0.97);
    const auto all = known(15, false);
    EXPECT_LT(chosen.seconds, 0.7 * all.seconds);
    // As narrow as what takes all that time, nearly.
    EXPECT_LT(chosen.width, 1.3 * all.width);
}

}  // namespace
}  // namespace effio::b_eff_io
