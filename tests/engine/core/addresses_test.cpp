// SPDX-License-Identifier: BSD-3-Clause
// Addresses against exhaustive enumeration: which bytes, how often, in which order, and the same
// through the view.
#include "core/addresses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace effio {
namespace {

std::vector<std::int64_t> places_of(const Addresses& a) {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < a.calls(); ++i) places.push_back(a.place(a.number(i)));
    return places;
}

/// How often each byte of the file is moved.
void count_bytes(const Addresses& a, std::map<std::int64_t, int>& times) {
    for (const auto place : places_of(a)) {
        for (std::int64_t i = 0; i < a.piece(); ++i) ++times[place + i];
    }
}

/// The pieces one by one are the stream of the view.
void expect_view_is_the_pieces(const Addresses& a) {
    std::vector<std::int64_t> by_call;
    for (std::int64_t n = 0; n < a.calls(); ++n) {
        for (std::int64_t i = 0; i < a.piece(); ++i) by_call.push_back(a.place(n) + i);
    }
    std::vector<std::int64_t> by_view;
    for_each_run(a.view(), 0, a.bytes(), [&](const effio::Run& run) {
        for (std::int64_t i = 0; i < run.bytes; ++i) by_view.push_back(run.offset + i);
        return true;
    });
    EXPECT_EQ(by_call, by_view);
}

TEST(Addresses, simple_strides_of_all_ranks_cover_the_file_once) {
    constexpr std::int64_t ranks = 3;
    std::map<std::int64_t, int> times;
    for (std::int64_t r = 0; r < ranks; ++r) {
        const Addresses a(r * 4, Strides{4, {{5, ranks * 4}}});
        EXPECT_EQ(a.calls(), 5);
        EXPECT_EQ(a.bytes(), 20);
        EXPECT_EQ(a.end(), 48 + r * 4 + 4);
        count_bytes(a, times);
        expect_view_is_the_pieces(a);
    }
    ASSERT_EQ(times.size(), 60U);
    EXPECT_EQ(times.begin()->first, 0);
    EXPECT_EQ(times.rbegin()->first, 59);
    for (const auto& [byte, n] : times) EXPECT_EQ(n, 1) << byte;
}

TEST(Addresses, nested_strides_run_innermost_first) {
    // off = j * 100 + k * 20 + 6, k = 0…2 inside, j = 0…1 outside.
    const Addresses a(6, Strides{5, {{3, 20}, {2, 100}}});
    EXPECT_EQ(places_of(a), (std::vector<std::int64_t>{6, 26, 46, 106, 126, 146}));
    EXPECT_EQ(a.end(), 151);
    expect_view_is_the_pieces(a);
}

TEST(Addresses, strides_without_levels_are_one_piece) {
    const Addresses a(12, Strides{8, {}});
    EXPECT_EQ(places_of(a), std::vector<std::int64_t>{12});
    expect_view_is_the_pieces(a);
}

TEST(Addresses, a_box_is_the_list_of_its_rows) {
    // A 3 x 2 part, from (1, 2) on, of 5 x 7 elements of 10 bytes behind a header of 1000.
    const Addresses a(1000, Box{{5, 7}, {1, 2}, {3, 2}, 10});
    EXPECT_EQ(a.piece(), 20);
    EXPECT_EQ(places_of(a), (std::vector<std::int64_t>{1090, 1160, 1230}));
    ASSERT_TRUE(a.box());
    expect_view_is_the_pieces(a);
}

TEST(Addresses, adjacent_rows_are_one_piece) {
    const Addresses whole(0, Box{{4, 6}, {1, 0}, {2, 6}, 2});
    EXPECT_EQ(whole.calls(), 1);
    EXPECT_EQ(whole.piece(), 24);
    EXPECT_EQ(whole.place(0), 12);
    // Whole planes of the two fastest dimensions, in pairs.
    const Addresses planes(0, Box{{3, 4, 5, 6}, {0, 1, 0, 0}, {3, 2, 5, 6}, 1});
    EXPECT_EQ(planes.piece(), 60);
    EXPECT_EQ(places_of(planes), (std::vector<std::int64_t>{30, 150, 270}));
    expect_view_is_the_pieces(planes);
    // One element a row: the rows are the elements.
    const Addresses column(0, Box{{3, 4}, {0, 2}, {3, 1}, 8});
    EXPECT_EQ(column.piece(), 8);
    EXPECT_EQ(places_of(column), (std::vector<std::int64_t>{16, 48, 80}));
    expect_view_is_the_pieces(column);
}

TEST(Addresses, an_empty_box_has_no_pieces) {
    const Addresses a(7, Box{{4, 6}, {1, 0}, {0, 6}, 2});
    EXPECT_EQ(a.calls(), 0);
    EXPECT_EQ(a.bytes(), 0);
    EXPECT_EQ(a.end(), 0);
}

/// Tiles of an array with and without overlap: every element is in a tile, and in as many as lie
/// over it.
TEST(Addresses, tiles_cover_the_array_and_overlap_where_they_should) {
    for (const std::int64_t overlap : {0, 1, 2}) {
        constexpr std::int64_t tiles_y = 2;
        constexpr std::int64_t tiles_x = 3;
        constexpr std::int64_t edge_y = 4;
        constexpr std::int64_t edge_x = 5;
        constexpr std::int64_t element = 3;
        constexpr std::int64_t header = 11;
        const std::int64_t rows = tiles_y * edge_y - (tiles_y - 1) * overlap;
        const std::int64_t columns = tiles_x * edge_x - (tiles_x - 1) * overlap;
        std::map<std::int64_t, int> times;
        for (std::int64_t y = 0; y < tiles_y; ++y) {
            for (std::int64_t x = 0; x < tiles_x; ++x) {
                const Addresses a(header, Box{{rows, columns},
                                              {y * (edge_y - overlap), x * (edge_x - overlap)},
                                              {edge_y, edge_x},
                                              element});
                count_bytes(a, times);
                expect_view_is_the_pieces(a);
            }
        }
        const auto over = [&](std::int64_t at, std::int64_t tiles, std::int64_t edge) {
            int n = 0;
            for (std::int64_t t = 0; t < tiles; ++t) {
                const std::int64_t begin = t * (edge - overlap);
                if (at >= begin && at < begin + edge) ++n;
            }
            return n;
        };
        ASSERT_EQ(times.size(), static_cast<std::size_t>(rows * columns * element));
        for (const auto& [byte, n] : times) {
            const std::int64_t index = (byte - header) / element;
            EXPECT_EQ(
                n, over(index / columns, tiles_y, edge_y) * over(index % columns, tiles_x, edge_x))
                << byte;
        }
    }
}

TEST(Addresses, a_list_is_moved_in_its_order) {
    const auto list =
        std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{0, 24, 32, 88});
    const Addresses a(100, Listed{8, list});
    EXPECT_EQ(places_of(a), (std::vector<std::int64_t>{100, 124, 132, 188}));
    EXPECT_EQ(a.end(), 196);
    expect_view_is_the_pieces(a);
}

TEST(Addresses, every_order_but_random_moves_each_piece_once) {
    const Addresses forward(64, Strides{16, {{4, 32}, {3, 256}}});
    auto sorted = places_of(forward);
    ASSERT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
    auto backward = places_of(forward.in(Order::backward, 0));
    EXPECT_EQ(backward, std::vector(sorted.rbegin(), sorted.rend()));
    auto shuffled = places_of(forward.in(Order::shuffled, 5));
    EXPECT_NE(shuffled, sorted);
    EXPECT_EQ(shuffled, places_of(forward.in(Order::shuffled, 5)));
    EXPECT_NE(shuffled, places_of(forward.in(Order::shuffled, 6)));
    std::sort(shuffled.begin(), shuffled.end());
    EXPECT_EQ(shuffled, sorted);
    // Back again.
    EXPECT_EQ(places_of(forward.in(Order::backward, 0).in(Order::sequential, 0)), sorted);
}

TEST(Addresses, random_draws_with_repeats_and_stays_inside) {
    const Addresses a = Addresses(0, Strides{4, {{50, 8}}}).in(Order::random, 3);
    const auto places = places_of(a);
    EXPECT_EQ(places.size(), 50U);
    const std::set<std::int64_t> different(places.begin(), places.end());
    EXPECT_LT(different.size(), 50U);
    EXPECT_GT(different.size(), 20U);
    for (const auto place : places) {
        EXPECT_EQ(place % 8, 0);
        EXPECT_LT(place, 400);
    }
}

TEST(Addresses, alignment_looks_at_every_place) {
    EXPECT_TRUE(Addresses(4096, Strides{4096, {{3, 8192}}}).aligned_to(4096));
    EXPECT_FALSE(Addresses(1, Strides{4096, {{3, 8192}}}).aligned_to(4096));
    EXPECT_FALSE(Addresses(0, Strides{4000, {{3, 8192}}}).aligned_to(4096));
    EXPECT_FALSE(Addresses(0, Strides{4096, {{3, 8192}, {2, 1000}}}).aligned_to(4096));
    EXPECT_TRUE(Addresses(0, Strides{4096, {{3, 8192}, {1, 1000}}}).aligned_to(4096));
    const auto list =
        std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{0, 4096, 9000});
    EXPECT_FALSE(Addresses(0, Listed{4096, list}).aligned_to(4096));
    EXPECT_TRUE(Addresses().aligned_to(4096));
}

}  // namespace
}  // namespace effio
