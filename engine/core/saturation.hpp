// SPDX-License-Identifier: BSD-3-Clause
// How many are enough: from a rate measured over numbers of ranks, several times
// (docs/definitions/saturation.md).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace effio {

/// How a rate goes with the number of ranks.
enum class Shape : char {
    linear,   ///< with it: the most ranks get nine tenths of this many times the fewest's rate
    growing,  ///< less than with it, and to the end
    level,    ///< it grows, then stays
    flat,     ///< the fewest have what all have
    falling,  ///< it has a maximum; more ranks are slower (95 % intervals)
};
std::string_view name(Shape shape);

/// Whether the rounds show how many ranks are enough.
enum class Enough : char {
    known,    ///< fewer ranks are slower, more are not faster (95 % intervals)
    once,     ///< a single round is not sufficient
    growing,  ///< the most ranks are faster than all others: more may be needed
    unclear,  ///< the intervals overlap
};
std::string_view name(Enough known);

struct Saturation {
    /// A rate that reaches this part of the best one counts as it.
    static constexpr double enough = 0.95;
    static constexpr double linear = 0.9;

    // Indices of numbers of ranks.
    std::size_t point = 0;  ///< the fewest whose mean rate is enough
    std::size_t best = 0;   ///< with the highest mean rate
    std::size_t low = 0;    ///< 95 % interval of `point`; no wider than it from a single round
    std::size_t high = 0;
    std::vector<double> rates;  ///< means over the rounds
    Shape shape = Shape::flat;
    Enough known = Enough::once;
};

/// `ranks` rise; each round has a rate for each of them, and there is at least one round. The
/// interval is that of a bootstrap: rounds are drawn anew, with replacement and always the same
/// way.
Saturation find_saturation(const std::vector<int>& ranks,
                           const std::vector<std::vector<double>>& rounds);

}  // namespace effio
