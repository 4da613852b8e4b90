// SPDX-License-Identifier: BSD-3-Clause
// Rules for when a measured number is known well enough to be stated. All benchmarks use them. Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace effio {

/// The 95 % interval of a mean.
struct Range95 {
    double low = 0;
    double high = 0;
};
/// The range for verdicts. Empty below two values, because a single value does not show its error.
/// Of two to four values it is Student's interval, which no result states (RoundsInterval::least).
std::optional<Range95> range95(std::span<const double> values);

/// Both means are known, and their intervals do not overlap.
bool are_apart(std::span<const double> a, std::span<const double> b);

/// Why they are not, of two or more values each. Intervals of few values are not shown, so texts
/// do not name them.
std::string_view why_not_apart(std::int64_t least_count);
/// The mean is known within ± `half`.
bool is_known_within(std::span<const double> values, double half);

/// A share may be outside 0 to 1 by this tolerance (clocks, small disturbances) and by its
/// interval. A share that is further outside is not a share of this whole.
inline constexpr double share_tolerance = 0.05;
bool can_be_share(const Range95& range);

}  // namespace effio
