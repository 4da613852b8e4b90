// SPDX-License-Identifier: BSD-3-Clause
// Who touches which offsets of a file made of blocks, in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/layout.hpp"

namespace effio {
namespace {

std::vector<std::int64_t> offsets(const Walk& walk) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < walk.length(); ++i) all.push_back(walk.offset(i));
    return all;
}

TEST(Blocks, offsets_follow_the_formula_of_the_shared_file) {
    // offset(segment i, rank r, transfer j) = i*T*b + r*b + j*t with T=3, b=8, t=4, s=2.
    const Blocks blocks{4, 8, 2, 3};
    EXPECT_EQ(blocks.transfers(), 4);
    EXPECT_EQ(blocks.file_bytes(), 48);
    EXPECT_EQ(offsets(Walk(blocks, 0, Order::sequential, 0, 0)),
              (std::vector<std::int64_t>{0, 4, 24, 28}));
    EXPECT_EQ(offsets(Walk(blocks, 2, Order::sequential, 0, 0)),
              (std::vector<std::int64_t>{16, 20, 40, 44}));
}

TEST(Blocks, a_file_of_ones_own_has_its_blocks_behind_each_other) {
    const Blocks blocks{4, 8, 2, 1};
    EXPECT_EQ(offsets(Walk(blocks, 0, Order::sequential, 0, 0)),
              (std::vector<std::int64_t>{0, 4, 8, 12}));
}

TEST(Walk, begins_anew_after_its_length) {
    const Walk walk(Blocks{4, 8, 1, 2}, 1, Order::sequential, 0, 0);
    EXPECT_EQ(walk.offset(0), 8);
    EXPECT_EQ(walk.offset(2), 8);
    EXPECT_EQ(walk.offset(5), 12);
}

TEST(Walk, shuffled_parts_share_all_transfers_equally_and_touch_each_once) {
    const Blocks blocks{512, 4096, 5, 7};
    std::vector<std::int64_t> all;
    for (int part = 0; part < 7; ++part) {
        const auto own = offsets(Walk(blocks, part, Order::shuffled, 42, 0));
        EXPECT_EQ(own.size(), 40U);
        all.insert(all.end(), own.begin(), own.end());
    }
    EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
    std::sort(all.begin(), all.end());
    std::vector<std::int64_t> expected(280);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] = static_cast<std::int64_t>(i) * 512;
    }
    EXPECT_EQ(all, expected);
    EXPECT_EQ(offsets(Walk(blocks, 3, Order::shuffled, 42, 0)),
              offsets(Walk(blocks, 3, Order::shuffled, 42, 0)));
    EXPECT_NE(offsets(Walk(blocks, 3, Order::shuffled, 42, 0)),
              offsets(Walk(blocks, 3, Order::shuffled, 43, 0)));
}

TEST(Walk, random_blocks_lie_in_the_existing_file_and_are_read_through) {
    const Blocks blocks{512, 1024, 100, 2};
    const std::int64_t existing = 10 * 1024 + 700;  // ten whole blocks
    const auto own = offsets(Walk(blocks, 1, Order::random, 5, existing));
    ASSERT_EQ(own.size(), 200U);
    std::vector<int> hits(10);
    for (std::size_t i = 0; i < own.size(); i += 2) {
        EXPECT_EQ(own[i] % 1024, 0);
        EXPECT_LT(own[i], 10 * 1024);
        EXPECT_EQ(own[i + 1], own[i] + 512);
        ++hits[static_cast<std::size_t>(own[i] / 1024)];
    }
    // With repeats: 100 draws of 10 blocks; none is left out.
    EXPECT_GT(*std::min_element(hits.begin(), hits.end()), 0);
    EXPECT_NE(own, offsets(Walk(blocks, 0, Order::random, 5, existing)));
}

}  // namespace
}  // namespace effio
