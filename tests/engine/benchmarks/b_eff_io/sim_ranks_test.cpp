// SPDX-License-Identifier: BSD-3-Clause
// b_eff_io of many ranks in virtual time, and the maximum over the partitions.
#include "sim_run.hpp"

namespace effio::b_eff_io {
namespace {

TEST_F(SimRun, b_eff_io_of_all_ranks_is_the_derived_one) {
    // More time for fewer ranks keeps the amount of data alike.
    const double seconds = ranks() == 1 ? 600 : ranks() == 2 ? 300 : 150;
    expect_done(run({"--backend=sim", model, "--time=" + std::to_string(seconds) + "s",
                     "--partitions=" + std::to_string(ranks())}));
    if (!is_root()) return;
    expect_derived(result.partitions[0], Derived(ranks(), seconds, false), false);
    EXPECT_EQ(result.best(), 0U);
    // The start of the hand calculation, Tu = 4, 2 and 1 s: row 1 has U = 4 and d = 2.5 s, row 12 U
    // = 1 and d = 1/2 + 1/32 s.
    EXPECT_EQ(row(Access::write, 1).repetitions, ranks() == 1 ? 6 : ranks() == 2 ? 3 : 1);
    EXPECT_EQ(row(Access::write, 12).repetitions, ranks() == 1 ? 7 : ranks() == 2 ? 3 : 1);
    EXPECT_EQ(row(Access::write, 1).stopped, StopReason::time);
    EXPECT_EQ(row(Access::read, 1).stopped, StopReason::count);
    EXPECT_DOUBLE_EQ(row(Access::write, 1).times.last_call, 2.5);
}

TEST_F(SimRun, the_result_is_the_maximum_over_the_partitions_and_the_first_of_equal_ones) {
    // n ranks move n times as much in the same time; the time is shared by the three.
    const int all = std::min(ranks(), 2);
    expect_done(run({"--backend=sim", model, "--time=2s",
                     "--partitions=1," + std::to_string(all) + "," + std::to_string(all)}));
    if (!is_root()) return;
    ASSERT_EQ(result.partitions.size(), 3U);
    for (const auto& p : result.partitions) {
        EXPECT_DOUBLE_EQ(p.effective_bandwidth(),
                         Derived(static_cast<int>(p.ranks), 0, false).b_eff_io());
    }
    EXPECT_EQ(result.best(), all == 1 ? 0U : 1U);
}

}  // namespace
}  // namespace effio::b_eff_io
