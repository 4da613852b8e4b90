// SPDX-License-Identifier: BSD-3-Clause
#include "core/layout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace effio {
namespace {

using Piece = Run;  // testing::Test has its own Run

std::vector<Piece> runs_of(const View& view, std::int64_t offset, std::int64_t bytes) {
    std::vector<Piece> runs;
    for_each_run(view, offset, bytes, [&](const Piece& run) {
        runs.push_back(run);
        return true;
    });
    return runs;
}

TEST(Layout, a_contiguous_view_is_the_file_behind_its_displacement) {
    EXPECT_EQ(runs_of({1000, Contiguous{}}, 24, 100), (std::vector<Piece>{{1024, 100}}));
}

TEST(Layout, round_robin_gives_each_part_one_chunk_after_the_other) {
    // Tiles of 3 * 10 bytes from 100 on; part 1 owns [110,120), [140,150), [170,180), ...
    const View view{100, RoundRobin{3, 1, 10}};
    EXPECT_EQ(runs_of(view, 0, 10), (std::vector<Piece>{{110, 10}}));
    EXPECT_EQ(runs_of(view, 0, 25), (std::vector<Piece>{{110, 10}, {140, 10}, {170, 5}}));
    EXPECT_EQ(runs_of(view, 7, 6), (std::vector<Piece>{{117, 3}, {140, 3}}));
    EXPECT_EQ(runs_of(view, 20, 1), (std::vector<Piece>{{170, 1}}));
}

TEST(Layout, round_robin_of_all_parts_covers_the_file_once) {
    std::vector<int> owner(120, -1);  // 4 parts of 5 chunks of 6
    for (int part = 0; part < 4; ++part) {
        for (const Piece& run : runs_of({0, RoundRobin{4, part, 6}}, 0, 30)) {
            for (std::int64_t i = 0; i < run.bytes; ++i) {
                auto& byte = owner.at(static_cast<std::size_t>(run.offset + i));
                EXPECT_EQ(byte, -1);
                byte = part;
            }
        }
    }
    for (std::size_t i = 0; i < owner.size(); ++i) EXPECT_EQ(owner[i], static_cast<int>(i / 6 % 4));
}

TEST(Layout, runs_stop_when_the_caller_says_so) {
    int seen = 0;
    for_each_run(View{0, RoundRobin{2, 0, 4}}, 0, 40, [&](const Piece&) { return ++seen < 3; });
    EXPECT_EQ(seen, 3);
    EXPECT_TRUE(runs_of(View{0, RoundRobin{2, 0, 4}}, 3, 0).empty());
}

TEST(Layout, a_permutation_hits_every_number_once) {
    for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 8, 16, 17, 63, 64, 65, 100, 1000, 4097}) {
        const Permutation permute(size, 42);
        EXPECT_EQ(permute.size(), size);
        std::vector<bool> hit(static_cast<std::size_t>(size));
        for (std::int64_t i = 0; i < size; ++i) {
            const auto to = static_cast<std::size_t>(permute(i));
            ASSERT_LT(to, hit.size()) << size;
            EXPECT_FALSE(hit[to]) << size;
            hit[to] = true;
        }
    }
}

TEST(Layout, a_permutation_of_more_than_2_to_the_32_stays_inside) {
    const std::int64_t size = 3'000'000'000'001;
    const Permutation permute(size, 7);
    for (std::int64_t i = 0; i < size; i += size / 1000) {
        EXPECT_GE(permute(i), 0);
        EXPECT_LT(permute(i), size);
    }
}

TEST(Layout, a_permutation_depends_on_the_seed_and_looks_random) {
    constexpr std::int64_t size = 1000;
    const Permutation a(size, 1);
    const Permutation again(size, 1);
    const Permutation b(size, 2);
    int same = 0;
    int fixed = 0;
    int neighbors = 0;
    for (std::int64_t i = 0; i < size; ++i) {
        EXPECT_EQ(a(i), again(i));
        if (a(i) == b(i)) ++same;
        if (a(i) == i) ++fixed;
        if (i > 0 && a(i) == a(i - 1) + 1) ++neighbors;
    }
    // Of a random permutation one of each is expected.
    EXPECT_LT(same, 10);
    EXPECT_LT(fixed, 10);
    EXPECT_LT(neighbors, 10);
}

/// Standard deviations by which Pearson's chi-square of `counts` exceeds its mean, where each of
/// the `counts` is expected `expected` times.
double excess(const std::vector<double>& counts, double expected, double freedom) {
    double chi_square = 0;
    for (const double count : counts) {
        chi_square += (count - expected) * (count - expected) / expected;
    }
    return (chi_square - freedom) / std::sqrt(2 * freedom);
}

TEST(Layout, all_orders_of_few_items_are_equally_likely) {
    // 5! = 120 orders, each expected 200 times from consecutive seeds.
    constexpr int seeds = 24000;
    std::map<std::vector<std::int64_t>, double> seen;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const Permutation permute(5, seed);
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i < 5; ++i) order.push_back(permute(i));
        ++seen[order];
    }
    ASSERT_EQ(seen.size(), 120);
    std::vector<double> counts;
    for (const auto& [order, count] : seen) counts.push_back(count);
    EXPECT_LT(std::abs(excess(counts, seeds / 120.0, 119)), 4);
}

TEST(Layout, every_item_goes_to_every_place_and_precedes_every_other_equally_often) {
    // A Fisher-Yates shuffle below 64 items, a Feistel network from there on; with and without
    // values outside of the range that it has to walk over.
    for (const std::int64_t size : {2, 3, 7, 16, 63, 64, 65, 100}) {
        constexpr int seeds = 4000;
        const auto n = static_cast<std::size_t>(size);
        std::vector<double> places(n * n);
        std::vector<double> following(n * n);
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            const Permutation permute(size, seed);
            for (std::size_t i = 0; i < n; ++i) {
                const auto to = static_cast<std::size_t>(permute(static_cast<std::int64_t>(i)));
                ++places[i * n + to];
                if (i + 1 < n) {
                    ++following[to * n + static_cast<std::size_t>(
                                             permute(static_cast<std::int64_t>(i) + 1))];
                }
            }
        }
        const double items = static_cast<double>(size);
        EXPECT_LT(std::abs(excess(places, seeds / items, (items - 1) * (items - 1))), 4) << size;
        std::erase(following, 0.0);  // the diagonal: nothing follows itself
        ASSERT_EQ(following.size(), n * (n - 1)) << size;
        EXPECT_LT(std::abs(excess(following, seeds / items, items * (items - 1) - 1)), 4) << size;
    }
}

TEST(Box, rows_of_a_plane_are_separate_runs) {
    // Rows 1 and 2, columns 2 to 4 of a 4 x 6 array of 8 bytes each.
    const Box box{{4, 6}, {1, 2}, {2, 3}, 8};
    EXPECT_EQ(box.bytes(), 48);
    EXPECT_EQ(box.first(), (1 * 6 + 2) * 8);
    EXPECT_EQ(box.run(), 24);
    EXPECT_FALSE(box.is_contiguous());
    EXPECT_EQ(runs_of({100, box}, 0, 48), (std::vector<Piece>{{100 + 64, 24}, {100 + 112, 24}}));
    // From the middle of the first row to the middle of the second.
    EXPECT_EQ(runs_of({0, box}, 8, 24), (std::vector<Piece>{{72, 16}, {112, 8}}));
}

TEST(Box, whole_rows_are_adjacent) {
    const Box rows{{4, 6, 2}, {1, 0, 0}, {2, 6, 2}, 4};
    EXPECT_TRUE(rows.is_contiguous());
    EXPECT_EQ(runs_of({0, rows}, 0, rows.bytes()), (std::vector<Piece>{{48, 96}}));
    // One row in the slower dimensions: what is left of the fastest one is contiguous, too.
    const Box part{{4, 6, 2}, {3, 5, 1}, {1, 1, 1}, 4};
    EXPECT_TRUE(part.is_contiguous());
    EXPECT_EQ(part.first(), ((3 * 6 + 5) * 2 + 1) * 4);
}

TEST(Box, an_empty_box_touches_nothing) {
    const Box empty{{4, 6}, {0, 0}, {0, 6}, 8};
    EXPECT_EQ(empty.bytes(), 0);
    EXPECT_TRUE(empty.is_contiguous());
    EXPECT_TRUE(runs_of({0, empty}, 0, 0).empty());
}

}  // namespace
}  // namespace effio
