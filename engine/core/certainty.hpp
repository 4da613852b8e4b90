// SPDX-License-Identifier: BSD-3-Clause
// When a number that was measured several times may be stated: the only answers to "is it known?".
// Pure.
#pragma once

#include <optional>
#include <span>

namespace effio {

/// The 95 % interval of a mean.
struct Range95 {
    double low = 0;
    double high = 0;
};
/// Nothing below two values: a single one does not show how far it may be off.
std::optional<Range95> range95(std::span<const double> values);

/// Both means are known, and their intervals do not overlap.
bool are_apart(std::span<const double> a, std::span<const double> b);
/// The mean is known within ± `half`.
bool is_known_within(std::span<const double> values, double half);

/// A share of something may be outside 0 to 1 by what clocks and small disturbances add, and by its
/// interval. Beyond that it is a share of something else.
inline constexpr double share_tolerance = 0.05;
bool can_be_share(const Range95& range);

}  // namespace effio
