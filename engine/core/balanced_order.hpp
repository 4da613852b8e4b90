// SPDX-License-Identifier: BSD-3-Clause
// Orders in which treatments are measured, so that none gains by its place or by what went before
// it: E. J. Williams, Experimental designs balanced for the estimation of residual effects of
// treatments, Australian Journal of Scientific Research A 2 (1949).
#pragma once

#include <cstddef>
#include <vector>

namespace effio {

/// Rows after which the design is balanced and begins again: `n` if even, else 2 `n`.
std::size_t balanced_rows(std::size_t n);

/// The order of 0…n-1 in a row (taken modulo balanced_rows). Over all rows each number is at
/// each place equally often and follows each other number equally often. Rows 2k and 2k+1 mirror
/// each other, so that a steady drift cancels in each such pair.
std::vector<std::size_t> balanced_order(std::size_t n, std::size_t row);

}  // namespace effio
