// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/common_clock.hpp"

#include <gtest/gtest.h>

namespace effio {
namespace {

class CommonClockTest : public testing::Test {
  protected:
    Clock clock;
    Comm comm = Comm::world(clock);
};

TEST_F(CommonClockTest, the_first_rank_to_start_is_not_late) {
    CommonClock common(comm, Topology{});
    const double start = common.start();
    const double late = common.late();
    EXPECT_GE(late, 0);
    EXPECT_EQ(comm.min(late), 0);
    // One node's clocks are one clock: the common start is the same moment for all.
    EXPECT_NEAR(start - late, comm.min(start), 1e-6);
}

TEST_F(CommonClockTest, nodes_with_one_clock_are_found_not_to_differ) {
    // Each rank is said to be its own node.
    Topology topology;
    topology.nodes = comm.size();
    topology.node = comm.rank();
    CommonClock common(comm, topology);
    for (int i = 0; i < 3; ++i) {
        const double begun = comm.min(clock.now());
        const double common_start = common.start() - common.late();
        const double ended = comm.max(clock.now());
        // An answer falls within its round trip, so the error is bounded by the time that all took.
        EXPECT_GE(common_start, begun);
        EXPECT_LE(common_start, ended + (ended - begun));
    }
}

TEST_F(CommonClockTest, a_part_of_the_ranks_may_hold_ranks_of_one_node_only) {
    Topology topology;
    topology.nodes = 2;
    topology.node = comm.rank() % 2;
    const Comm half = *comm.split(comm.rank() % 2);
    CommonClock common(half, topology);
    common.start();
    EXPECT_EQ(half.min(common.late()), 0);
}

TEST_F(CommonClockTest, virtual_clocks_are_one_time) {
    Clock slow(Clock::Kind::virtual_time);
    const Comm ranks = Comm::world(slow);
    slow.advance(ranks.rank());
    Topology topology;
    topology.nodes = 2;
    topology.node = ranks.rank() % 2;
    CommonClock common(ranks, topology);
    EXPECT_EQ(common.start(), ranks.size() - 1);
    EXPECT_EQ(common.late(), 0);
    EXPECT_EQ(slow.now(), ranks.size() - 1);
}

}  // namespace
}  // namespace effio
