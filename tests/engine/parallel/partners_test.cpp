// SPDX-License-Identifier: BSD-3-Clause
// Whose data a rank takes over: permutations that lead to another node.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "parallel/topology.hpp"

namespace effio {
namespace {

/// Node of each position where nodes hold these numbers of ranks.
std::vector<int> nodes_of(const std::vector<int>& counts) {
    std::vector<int> nodes;
    for (std::size_t node = 0; node < counts.size(); ++node) {
        nodes.insert(nodes.end(), static_cast<std::size_t>(counts[node]), static_cast<int>(node));
    }
    return nodes;
}

NodeRow row_of(const std::vector<int>& counts) {
    const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
    return {static_cast<int>(nodes_of(counts).size()), static_cast<int>(counts.size()), *high,
            *low == *high};
}

struct Seen {
    std::set<int> partners;
    int same_node = 0;
};
Seen all_partners(const std::vector<int>& counts, Partner kind, int distance,
                  std::uint64_t seed = 1) {
    const auto nodes = nodes_of(counts);
    const NodeRow row = row_of(counts);
    Seen seen;
    for (int position = 0; position < row.size; ++position) {
        const int partner = row.partner(kind, position, distance, seed);
        seen.partners.insert(partner);
        EXPECT_EQ(row.taker(kind, partner, distance, seed), position);
        if (nodes.at(static_cast<std::size_t>(partner)) ==
            nodes[static_cast<std::size_t>(position)]) {
            ++seen.same_node;
        }
    }
    return seen;
}

TEST(NodeRow, the_shift_of_equal_nodes_is_that_of_the_original) {
    // rank + Q * ranks-per-node modulo the ranks (docs/definitions/ior.md, Which bytes).
    const NodeRow row = row_of({4, 4, 4});
    for (int position = 0; position < 12; ++position) {
        EXPECT_EQ(row.partner(Partner::same, position, 1, 0), position);
        EXPECT_EQ(row.partner(Partner::shifted, position, 1, 0), (position + 4) % 12);
        EXPECT_EQ(row.partner(Partner::shifted, position, 2, 0), (position + 8) % 12);
    }
}

TEST(NodeRow, shifted_and_random_partners_are_on_other_nodes_each_exactly_once) {
    const std::vector<std::vector<int>> machines{{4, 4},       {4, 4, 4},    {1, 1, 1, 1},
                                                 {3, 2, 4, 1}, {5, 1, 1, 3}, {2, 2, 2, 2, 1}};
    for (const auto& counts : machines) {
        const auto size = nodes_of(counts).size();
        for (const int distance : {1, 2, 3, 7}) {
            for (const Partner kind : {Partner::shifted, Partner::random}) {
                for (const std::uint64_t seed : {1U, 2U, 3U}) {
                    const Seen seen = all_partners(counts, kind, distance, seed);
                    EXPECT_EQ(seen.partners.size(), size);
                    EXPECT_EQ(seen.same_node, 0) << counts.size() << " nodes, " << distance;
                }
            }
        }
    }
}

TEST(NodeRow, random_partners_keep_the_distance_and_depend_on_the_seed) {
    const NodeRow row = row_of({2, 2, 2, 2, 2, 2});
    std::set<int> targets;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (int position = 0; position < row.size; ++position) {
            const int partner = row.partner(Partner::random, position, 2, seed);
            const int apart = ((partner / 2) - (position / 2) + 6) % 6;
            EXPECT_GE(apart, 2);
            EXPECT_LE(apart, 4);
            if (position == 0) targets.insert(partner);
        }
    }
    EXPECT_GT(targets.size(), 3U);
}

TEST(NodeRow, where_one_node_has_most_ranks_some_must_stay_and_still_all_are_served) {
    const Seen seen = all_partners({6, 2}, Partner::shifted, 1);
    EXPECT_EQ(seen.partners.size(), 8U);
    EXPECT_GT(seen.same_node, 0);
}

TEST(NodeRow, on_one_node_a_shift_leads_to_another_rank) {
    const Seen seen = all_partners({4}, Partner::shifted, 1);
    EXPECT_EQ(seen.partners.size(), 4U);
    EXPECT_EQ(seen.same_node, 4);
    EXPECT_EQ(row_of({4}).partner(Partner::shifted, 3, 1, 0), 0);
    EXPECT_EQ(row_of({4}).partner(Partner::shifted, 0, 4, 0), 1);
    EXPECT_EQ(row_of({1}).partner(Partner::shifted, 0, 1, 0), 0);
}

TEST(NodeRow, a_shuffle_serves_each_rank_once) {
    EXPECT_EQ(all_partners({3, 3, 3}, Partner::shuffled, 1, 9).partners.size(), 9U);
}

TEST(NodeOrder, finds_ranks_and_nodes_of_scattered_ranks) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    // Pretend that even and odd ranks live on two nodes.
    Topology t;
    t.nodes = comm.size() > 1 ? 2 : 1;
    t.node = comm.rank() % 2;
    t.max_ranks_on_node = (comm.size() + 1) / 2;
    t.min_ranks_on_node = comm.size() / 2;
    const NodeOrder order(comm, t);
    const int partner = order.partner(Partner::shifted, 1, 0);
    if (comm.size() > 1) {
        EXPECT_FALSE(order.on_my_node(partner));
        EXPECT_EQ(partner % 2, 1 - comm.rank() % 2);
    }
    EXPECT_TRUE(order.on_my_node(comm.rank()));
    EXPECT_EQ(comm.sum(std::int64_t{partner}), std::int64_t{comm.size()} * (comm.size() - 1) / 2);

    // The partner's numbers come from the partner.
    const std::array<std::int64_t, 2> mine{100 + comm.rank(), comm.rank() % 2};
    std::array<std::int64_t, 2> theirs{};
    for (const Partner kind :
         {Partner::same, Partner::shifted, Partner::random, Partner::shuffled}) {
        const Partners partners = order.partners(kind, 1, 7);
        comm.fetch(partners, mine, theirs);
        EXPECT_EQ(theirs[0], 100 + partners.owner);
        EXPECT_EQ(theirs[1], partners.owner % 2);
    }
}

}  // namespace
}  // namespace effio
