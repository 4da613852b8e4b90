// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/over_ranks.hpp"

#include <gtest/gtest.h>

#include <array>

namespace effio {
namespace {

struct OverRanks : testing::Test {
    Clock clock;
    Comm comm = Comm::world(clock);
    double rank = comm.rank();
    double last = comm.size() - 1;
};

TEST_F(OverRanks, spreads_are_least_mean_and_most) {
    const std::array<NamedNumber, 2> mine{{{"rank", rank}, {"constant", 7}}};
    const auto spreads = spread_over(comm, mine);
    ASSERT_EQ(spreads.size(), 2U);
    EXPECT_EQ(spreads[0].name, "rank");
    EXPECT_DOUBLE_EQ(spreads[0].value.min, 0);
    EXPECT_DOUBLE_EQ(spreads[0].value.mean, last / 2);
    EXPECT_DOUBLE_EQ(spreads[0].value.max, last);
    EXPECT_DOUBLE_EQ(spreads[1].value.mean, 7);
    EXPECT_DOUBLE_EQ(spread_over(comm, rank).max, last);
}

TEST_F(OverRanks, operation_times_of_all_ranks_come_together) {
    Histogram mine;
    mine.add(0.001 * (rank + 1));
    const Histogram all = merged_over(comm, mine);
    EXPECT_EQ(all.count(), static_cast<std::uint64_t>(comm.size()));
    EXPECT_DOUBLE_EQ(all.min_seconds(), 0.001);
    EXPECT_DOUBLE_EQ(all.max_seconds(), 0.001 * (last + 1));
}

TEST_F(OverRanks, a_rank_without_operations_has_no_say_in_the_extremes) {
    Histogram mine;
    if (comm.rank() == 0) mine.add(0.25);
    const Histogram all = merged_over(comm, mine);
    EXPECT_EQ(all.count(), 1U);
    EXPECT_DOUBLE_EQ(all.min_seconds(), 0.25);
    EXPECT_DOUBLE_EQ(all.max_seconds(), 0.25);
    const Histogram nothing = merged_over(comm, Histogram());
    EXPECT_EQ(nothing.min_ns(), Histogram().min_ns());
    EXPECT_EQ(nothing.count(), 0U);
}

TEST_F(OverRanks, series_of_unlike_length_and_width_add_up) {
    TimeSeries mine;
    // Rank 0 works for 5000 s, so its slices are 2 s wide; the others for 3 s.
    for (int s = 0; s < (comm.rank() == 0 ? 5000 : 3); ++s) mine.add(s, s + 1, 1);
    const TimeSeries all = summed_over(comm, mine, 0);
    EXPECT_EQ(all.width(), 2);
    EXPECT_EQ(all.slices().size(), 2501U);
    EXPECT_DOUBLE_EQ(all.slices()[0], 2 * (last + 1));
    EXPECT_DOUBLE_EQ(all.slices()[1], 2 + last);
    EXPECT_DOUBLE_EQ(all.slices()[2], 2);
    EXPECT_TRUE(summed_over(comm, {}, 0).slices().empty());
}

TEST_F(OverRanks, a_series_that_began_late_counts_from_the_common_start) {
    TimeSeries mine;
    mine.add(0, 0.5, 1);
    const TimeSeries all = summed_over(comm, mine, 2 * rank);
    ASSERT_EQ(all.slices().size(), static_cast<std::size_t>(2 * last + 1));
    for (std::size_t i = 0; i < all.slices().size(); ++i) {
        EXPECT_DOUBLE_EQ(all.slices()[i], i % 2 == 0 ? 1 : 0);
    }
}

TEST_F(OverRanks, what_is_left_of_a_time_is_never_less_than_nothing) {
    // 0.3 is less than the sum of its three tenths, by rounding.
    EXPECT_EQ(remainder_of(0.3, 0.1 + 0.1 + 0.1), 0);
    EXPECT_DOUBLE_EQ(remainder_of(0.5, 0.2), 0.3);
}

TEST_F(OverRanks, a_part_that_is_divided_keeps_no_less_than_nothing) {
    // 0.3 - 0.1 - 0.2 is -2.8e-17: partest's open, write and close in virtual time.
    ASSERT_LT(0.3 - 0.1 - 0.2, 0);
    const std::vector<NamedNumber> parts{{"open", 0.1}, {"close", 0.2}};
    const auto seconds =
        divided({{"total", 0.5}, {"transfer", 0.3}, {"late", 0}}, "transfer", parts);
    const std::vector<NamedNumber> expected{
        {"total", 0.5}, {"transfer", 0}, {"open", 0.1}, {"close", 0.2}, {"late", 0}};
    EXPECT_EQ(seconds, expected);
    EXPECT_DOUBLE_EQ(divided({{"transfer", 0.5}}, "transfer", parts)[0].value, 0.2);
    EXPECT_EQ(divided({{"total", 0.5}}, "transfer", parts).size(), 1U);
}

TEST_F(OverRanks, the_largest_come_first_and_ties_go_to_the_lower_rank) {
    const auto top = largest_over(comm, comm.rank() % 2 == 0 ? 1.0 : 2.0,
                                  "host" + std::to_string(comm.rank()), 3);
    ASSERT_EQ(top.size(), std::min<std::size_t>(3, static_cast<std::size_t>(comm.size())));
    if (comm.size() == 1) return;
    EXPECT_EQ(top[0].rank, 1);
    EXPECT_EQ(top[0].host, "host1");
    EXPECT_DOUBLE_EQ(top[0].value, 2);
    if (comm.size() < 4) return;
    EXPECT_EQ(top[1].rank, 3);
    EXPECT_EQ(top[2].rank, 0);
    EXPECT_EQ(top[2].host, "host0");
    EXPECT_DOUBLE_EQ(top[2].value, 1);
}

}  // namespace
}  // namespace effio
