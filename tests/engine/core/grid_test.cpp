// SPDX-License-Identifier: BSD-3-Clause
// Grids as MPI_Dims_create should make them: extents as close as possible, the largest first.
#include <gtest/gtest.h>

#include <vector>

#include "core/layout.hpp"

namespace effio {
namespace {

using Extents = std::vector<int>;

TEST(BalancedGrid, extents_are_as_close_as_possible) {
    EXPECT_EQ(balanced_grid(8, 2), (Extents{4, 2}));
    EXPECT_EQ(balanced_grid(8, 3), (Extents{2, 2, 2}));
    EXPECT_EQ(balanced_grid(100, 2), (Extents{10, 10}));
    EXPECT_EQ(balanced_grid(100, 3), (Extents{5, 5, 4}));
    EXPECT_EQ(balanced_grid(72, 2), (Extents{9, 8}));
    EXPECT_EQ(balanced_grid(72, 3), (Extents{6, 4, 3}));
}

TEST(BalancedGrid, primes_and_one_are_a_line) {
    EXPECT_EQ(balanced_grid(7, 2), (Extents{7, 1}));
    EXPECT_EQ(balanced_grid(1, 3), (Extents{1, 1, 1}));
    EXPECT_EQ(balanced_grid(999983, 3), (Extents{999983, 1, 1}));
    EXPECT_EQ(balanced_grid(12, 1), (Extents{12}));
}

TEST(BalancedGrid, the_largest_sizes_are_found_among_the_divisors) {
    constexpr int prime = 2147483647;
    EXPECT_EQ(balanced_grid(prime, 3), (Extents{prime, 1, 1}));
    EXPECT_EQ(balanced_grid(2147395600, 2), (Extents{46340, 46340}));
    EXPECT_EQ(balanced_grid(1 << 30, 3), (Extents{1024, 1024, 1024}));
}

}  // namespace
}  // namespace effio
