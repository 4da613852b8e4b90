// SPDX-License-Identifier: BSD-3-Clause
#include "core/saturation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace effio {
namespace {

using Rounds = std::vector<std::vector<double>>;

/// A storage of `all` that gives a rank `one` at most, over these numbers of ranks.
std::vector<double> rates(const std::vector<int>& ranks, double one, double all) {
    std::vector<double> list;
    for (const int n : ranks) list.push_back(std::min(n * one, all));
    return list;
}

std::vector<int> doubled_ranks() {
    return {1, 2, 4, 8, 16, 32, 64};
}

TEST(Saturation, the_fewest_ranks_whose_rate_is_within_a_twentieth_of_the_best) {
    const auto doubled = doubled_ranks();
    // 100 a rank, 1000 in all: 8 ranks have 800, 16 have all.
    auto s = find_saturation(doubled, {rates(doubled, 100, 1000)});
    EXPECT_EQ(doubled[s.point], 16);
    EXPECT_EQ(doubled[s.best], 16);
    EXPECT_EQ(s.shape, Shape::level);
    EXPECT_EQ(s.rates, (std::vector<double>{100, 200, 400, 800, 1000, 1000, 1000}));
    // 8 ranks have 950 of 1000, which is enough; 949 are not.
    EXPECT_EQ(find_saturation({4, 8, 16}, {{500, 950, 1000}}).point, 1U);
    EXPECT_EQ(find_saturation({4, 8, 16}, {{500, 949, 1000}}).point, 2U);
}

TEST(Saturation, shapes) {
    const auto shape = [](const std::vector<double>& round) {
        return find_saturation({1, 2, 4}, {round, round}).shape;
    };
    EXPECT_EQ(shape({100, 200, 400}), Shape::linear);
    EXPECT_EQ(shape({100, 190, 360}), Shape::linear);  // nine tenths of four times 100
    EXPECT_EQ(shape({100, 190, 359}), Shape::growing);
    EXPECT_EQ(shape({100, 200, 205}), Shape::level);
    EXPECT_EQ(shape({100, 102, 99}), Shape::flat);
    EXPECT_EQ(shape({100, 300, 284}), Shape::falling);
    EXPECT_EQ(shape({100, 300, 285}), Shape::level);
    EXPECT_EQ(shape({100, 60, 40}), Shape::falling);
    // A single round, or rounds that contradict each other, say nothing of more being slower.
    EXPECT_EQ(find_saturation({1, 2, 4}, {{100, 300, 284}}).shape, Shape::level);
    EXPECT_EQ(find_saturation({1, 2, 4}, Rounds{{100, 350, 200}, {100, 250, 300}}).shape,
              Shape::level);
    EXPECT_EQ(name(Shape::linear), "linear");
    EXPECT_EQ(name(Shape::falling), "falling");
}

TEST(Saturation, how_many_are_enough_is_known_by_intervals_alone) {
    const auto known = [](const Rounds& rounds) {
        return find_saturation({1, 2, 4}, rounds).known;
    };
    // A single round never decides.
    EXPECT_EQ(known({{100, 200, 205}}), Enough::once);
    EXPECT_EQ(known({{100, 200, 205}, {100, 200, 205}}), Enough::known);
    // The rate of the last number is above all others: more may be needed.
    EXPECT_EQ(known({{100, 200, 400}, {100, 200, 400}}), Enough::growing);
    // 22.5 ± 1.7 against 21.3 ± 1.3, as observed: neither is known to be enough.
    const Rounds overlap{{21.8, 20.8, 20.8}, {22.5, 21.3, 21.3}, {23.2, 21.8, 21.8}};
    EXPECT_EQ(known(overlap), Enough::unclear);
    EXPECT_NE(find_saturation({1, 2, 4}, overlap).shape, Shape::falling);
    // Two are the fewest within a twentieth of the best, but one may be as fast.
    EXPECT_EQ(known({{50, 230, 250}, {150, 150, 150}}), Enough::unclear);
    // One is enough if it is surely within a twentieth of the others.
    EXPECT_EQ(known({{100, 101, 101}, {100, 101, 101}}), Enough::known);
    EXPECT_EQ(name(Enough::growing), "growing");
}

TEST(Saturation, the_mean_over_the_rounds_decides) {
    // Means: 100, 190, 200. The second round alone would say 1 rank.
    const auto s = find_saturation({1, 2, 4}, Rounds{{50, 230, 250}, {150, 150, 150}});
    EXPECT_EQ(s.rates, (std::vector<double>{100, 190, 200}));
    EXPECT_EQ(s.point, 1U);
    // Both rounds drawn twice are all that remains: of the first one 230 are not enough,
    // of the second one a single rank is.
    EXPECT_EQ(s.low, 0U);
    EXPECT_EQ(s.high, 2U);
}

TEST(Saturation, rounds_that_agree_leave_nothing_open) {
    const auto doubled = doubled_ranks();
    const auto round = rates(doubled, 100, 1000);
    for (const std::size_t count : {1U, 2U, 5U}) {
        const auto s = find_saturation(doubled, Rounds(count, round));
        EXPECT_EQ(s.low, s.point);
        EXPECT_EQ(s.high, s.point);
    }
}

TEST(Saturation, what_one_round_of_a_hundred_says_is_outside_the_interval) {
    Rounds rounds(100, {100, 1000, 1000});
    rounds.front() = {100, 1000, 1900};
    const auto s = find_saturation({1, 2, 4}, rounds);
    // 99 times 1000 and once 1900: 1009, of which 1000 are 99 %. It takes six odd ones of a hundred
    // drawn to make 1053, and that has a probability of 0.06 %.
    EXPECT_EQ(s.point, 1U);
    EXPECT_EQ(s.low, 1U);
    EXPECT_EQ(s.high, 1U);
}

}  // namespace
}  // namespace effio
