// SPDX-License-Identifier: BSD-3-Clause
// An interval of a mean that remains valid if it is checked after every value, and signs that the
// mean is misleading (docs/reading.md, How many repetitions). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace effio {

/// A 95 % confidence sequence: with a probability of 95 %, the intervals after every number of
/// independent values all contain the mean. So a run may stop as soon as the interval is narrow.
///
/// The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
/// (Time-uniform central limit theory and asymptotic confidence sequences, 2024, Theorem 2.2): half
/// width s sqrt(2 (n r² + 1) / (n² r²) log(sqrt(n r² + 1) / 0.05)), with the r that makes it
/// narrowest after 20 values (their equation 26). Three changes [ours] make it valid for few and
/// for dependent values: s is multiplied by the ratio of Student's t to the Gaussian quantile; n is
/// the number of independent values that the correlation of consecutive values leaves
/// (RoundsInterval, here from ten values on and without a test); and s is increased by the part of
/// the deviation that few correlated values do not show yet.
struct SequentialInterval {
    static constexpr std::int64_t least_to_see = 10;  ///< values that a correlation needs

    double mean = 0;
    double half_width = 0;
    double worth = 0;  ///< number of independent values
};
/// Empty below two values.
std::optional<SequentialInterval> sequential_interval(std::span<const double> values);

/// Signs that a mean of values, or its interval, is misleading.
struct Oddities {
    /// Values further from the median than five deviations; the deviation is computed from the
    /// median of the distances (Hampel's identifier).
    std::int64_t outliers = 0;
    /// Two modes: a gap in the middle of the sorted values that is more than four times as wide as
    /// the deviation within its two sides. Each side has at least two values.
    bool two_modes = false;

    bool any() const { return outliers > 0 || two_modes; }
};
/// None below five values.
Oddities oddities_of(std::span<const double> values);

}  // namespace effio
