// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/node_clocks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>

namespace effio {
namespace {

TEST(AheadBy, the_shortest_round_trip_shows_it) {
    // The other clock is 1000 s ahead. The second answer was given in the middle of 2 ms, the first
    // one after 90 of 100 ms.
    const std::array trips{RoundTrip{5.000, 1005.090, 5.100}, RoundTrip{6.000, 1006.001, 6.002}};
    EXPECT_NEAR(ahead_by(trips).seconds, 1000, 1e-9);
    EXPECT_NEAR(ahead_by(trips).within, 0.001, 1e-9);
}

TEST(AheadBy, clocks_may_differ_by_years) {
    const RoundTrip trip{1e9, 1.25, 1e9 + 0.5};
    EXPECT_DOUBLE_EQ(ahead_by(std::span(&trip, 1)).seconds, 1 - 1e9);
    EXPECT_DOUBLE_EQ(ahead_by(std::span(&trip, 1)).within, 0.25);
}

TEST(ComparedNodes, all_of_few_and_some_of_many) {
    EXPECT_EQ(compared_nodes(1, 4), (std::vector{0}));
    EXPECT_EQ(compared_nodes(4, 4), (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(compared_nodes(10, 4), (std::vector{0, 2, 5, 7}));
    // Of as many nodes as a machine may have: no product leaves its type.
    const auto some = compared_nodes(2147483647, 64);
    ASSERT_EQ(some.size(), 64U);
    EXPECT_EQ(some.front(), 0);
    EXPECT_EQ(some.back(), 2113929215);  // 63 / 64 of them
}

class NodeClocksTest : public testing::Test {
  protected:
    Clock clock;
    Comm comm = Comm::world(clock);
    StartReadings readings{read_tick_clocks(), read_tick_clocks()};
};

TEST_F(NodeClocksTest, one_node_has_one_clock) {
    NodeClocks clocks(comm, Topology{}, readings, ClockChoice::monotonic);
    const Json begin = clocks.at_begin();
    EXPECT_TRUE(clocks.at_end().is_null());
    if (!comm.is_root()) {
        EXPECT_TRUE(begin.is_null());
        return;
    }
    EXPECT_EQ(begin["source"], "CLOCK_MONOTONIC");
    EXPECT_FALSE(begin["virtual"]);
    EXPECT_GT(begin["resolution_seconds"], 0);
    EXPECT_GT(begin["call_timing_seconds"], 0);
    EXPECT_EQ(begin["ticks"]["refused"], "disabled (--clock=monotonic)");
    EXPECT_TRUE(begin["skew"].is_null());
}

TEST_F(NodeClocksTest, a_model_has_no_clock_of_the_machine) {
    Clock model(Clock::Kind::virtual_time);
    const Comm ranks = Comm::world(model);
    Topology topology;
    topology.nodes = ranks.size();
    topology.node = ranks.rank();
    NodeClocks clocks(ranks, topology, readings, ClockChoice::automatic);
    const Json begin = clocks.at_begin();
    EXPECT_TRUE(clocks.at_end().is_null());
    EXPECT_EQ(model.now(), 0) << "what a model measures begins at 0";
    if (!ranks.is_root()) return;
    EXPECT_EQ(begin["source"], "model");
    EXPECT_EQ(begin["kernel_sources"], Json::array());
    EXPECT_EQ(begin["resolution_seconds"], 0);
    EXPECT_EQ(begin["call_timing_seconds"], 0);
    EXPECT_TRUE(begin["ticks"].is_null());
    EXPECT_TRUE(begin["skew"].is_null());
}

TEST_F(NodeClocksTest, nodes_with_one_clock_are_apart_by_no_more_than_the_comparison_may_err) {
    // Each rank is said to be its own node.
    Topology topology;
    topology.nodes = comm.size();
    topology.node = comm.rank();
    topology.node_name = std::to_string(comm.rank());
    NodeClocks clocks(comm, topology, readings, ClockChoice::automatic);
    const Json begin = clocks.at_begin();
    const Json end = clocks.at_end();
    if (!comm.is_root()) {
        EXPECT_TRUE(begin.is_null());
        EXPECT_TRUE(end.is_null());
        return;
    }
    if (comm.size() == 1) {
        EXPECT_TRUE(begin["skew"].is_null());
        EXPECT_TRUE(end.is_null());
        return;
    }
    for (const Json& skew : {begin["skew"], end}) {
        EXPECT_EQ(skew["nodes_compared"], comm.size());
        ASSERT_EQ(skew["nodes"].size(), static_cast<std::size_t>(comm.size() - 1));
        double within = 0;
        for (std::size_t i = 0; i < skew["nodes"].size(); ++i) {
            const Json& node = skew["nodes"][i];
            EXPECT_EQ(node["node"], i + 1);
            EXPECT_EQ(node["name"], std::to_string(i + 1));
            // The one clock lay inside the round trip.
            EXPECT_LE(std::abs(node["ahead_seconds"].get<double>()),
                      node["within_seconds"].get<double>() + 1e-9);
            within = std::max(within, node["within_seconds"].get<double>());
        }
        EXPECT_EQ(skew["within_seconds"], within);
        EXPECT_GE(skew["apart_seconds"], 0);
        EXPECT_LE(skew["apart_seconds"], 2 * within + 1e-9);
    }
    EXPECT_GT(end["after_seconds"], 0);
    EXPECT_LE(std::abs(end["changed_seconds"].get<double>()),
              end["changed_within_seconds"].get<double>() + 2e-9);
}

}  // namespace
}  // namespace effio
