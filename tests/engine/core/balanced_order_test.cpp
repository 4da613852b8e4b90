// SPDX-License-Identifier: BSD-3-Clause
// The balance that a Williams design promises, counted.
#include "core/balanced_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace effio {
namespace {

using Sequence = std::vector<std::size_t>;

TEST(BalancedOrder, first_rows_of_four_are_those_of_the_book) {
    EXPECT_EQ(balanced_rows(4), 4U);
    EXPECT_EQ(balanced_order(4, 0), (Sequence{0, 1, 3, 2}));
    EXPECT_EQ(balanced_order(4, 1), (Sequence{2, 3, 1, 0}));
    EXPECT_EQ(balanced_order(4, 2), (Sequence{1, 2, 0, 3}));
    EXPECT_EQ(balanced_order(4, 3), (Sequence{3, 0, 2, 1}));
    EXPECT_EQ(balanced_order(4, 4), balanced_order(4, 0));
    EXPECT_EQ(balanced_order(1, 5), (Sequence{0}));
    EXPECT_TRUE(balanced_order(0, 0).empty());
}

TEST(BalancedOrder, places_and_predecessors_are_equally_frequent) {
    for (std::size_t n = 2; n <= 9; ++n) {
        const std::size_t rows = balanced_rows(n);
        EXPECT_EQ(rows, n % 2 == 0 ? n : 2 * n);
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> at_place;
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> after;
        for (std::size_t row = 0; row < rows; ++row) {
            const Sequence order = balanced_order(n, row);
            for (std::size_t place = 0; place < n; ++place) {
                ++at_place[{order[place], place}];
                if (place > 0) ++after[{order[place - 1], order[place]}];
            }
            if (row % 2 == 1) {
                Sequence before = balanced_order(n, row - 1);
                std::reverse(before.begin(), before.end());
                EXPECT_EQ(order, before);
            }
        }
        EXPECT_EQ(at_place.size(), n * n);
        for (const auto& [what, count] : at_place) EXPECT_EQ(count, rows / n) << n;
        EXPECT_EQ(after.size(), n * (n - 1));
        for (const auto& [what, count] : after) EXPECT_EQ(count, rows / n) << n;
    }
}

}  // namespace
}  // namespace effio
