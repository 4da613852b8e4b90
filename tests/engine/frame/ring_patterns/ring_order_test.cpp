// SPDX-License-Identifier: BSD-3-Clause
// Random rings against the rule of docs/definitions/b-eff.md done literally with libc's drand48.
#include "frame/ring_patterns/ring_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace effio {
namespace {

/// The next order of the sequence that srand48 began.
std::vector<int> next_by_libc(int ranks) {
    std::vector<int> order(static_cast<std::size_t>(ranks), -1);
    for (int rank = 0; rank < ranks; ++rank) {
        auto slot = static_cast<std::size_t>(drand48() * ranks);
        while (order[slot] >= 0) slot = (slot + 1) % order.size();
        order[slot] = rank;
    }
    return order;
}

TEST(RandomOrder, is_what_srand48_and_linear_probing_give) {
    for (const std::uint32_t seed : {0U, 1U, 20261121U, 4294967295U}) {
        for (const int ranks : {2, 3, 5, 8, 100, 1000}) {
            srand48(static_cast<long>(seed));
            for (int index = 0; index < 30; ++index) {
                ASSERT_EQ(random_order(ranks, seed, index), next_by_libc(ranks))
                    << seed << " " << ranks << " " << index;
            }
        }
    }
}

TEST(RandomOrder, has_every_rank_once_and_differs_by_seed_and_index) {
    constexpr int ranks = 10'000;
    auto order = random_order(ranks, 3, 7);
    EXPECT_EQ(order, random_order(ranks, 3, 7));
    EXPECT_NE(order, random_order(ranks, 3, 8));
    EXPECT_NE(order, random_order(ranks, 4, 7));
    std::vector<int> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_NE(order, all);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, all);
}

TEST(RingNeighbors, are_cyclic_within_their_own_ring) {
    // The ring of 3 that begins at position 4: 4 5 6.
    EXPECT_EQ(ring_neighbors(4, 4, 3).next, 5);
    EXPECT_EQ(ring_neighbors(4, 4, 3).previous, 6);
    EXPECT_EQ(ring_neighbors(6, 4, 3).next, 4);
    EXPECT_EQ(ring_neighbors(0, 0, 2).next, 1);
    EXPECT_EQ(ring_neighbors(0, 0, 2).previous, 1);
}

}  // namespace
}  // namespace effio
