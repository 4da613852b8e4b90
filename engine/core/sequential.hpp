// SPDX-License-Identifier: BSD-3-Clause
// An interval of a mean that may be looked at after every value, and what speaks against it
// (docs/reading.md, How many repetitions). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace effio {

/// A 95 % confidence sequence: it holds the mean of independent values at all their numbers
/// together with that probability, so that one may stop where it happens to be narrow.
///
/// The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
/// (Time-uniform central limit theory and asymptotic confidence sequences, 2024, Theorem 2.2): half
/// width s sqrt(2 (n r² + 1) / (n² r²) log(sqrt(n r² + 1) / 0.05)), with r that makes it narrowest
/// after 20 values (their equation 26). Three things [ours] make it hold for few and for dependent
/// values: s is widened as Student's t is against the Gaussian; n is the number of independent
/// values that the correlation of neighbours leaves (RoundsInterval, here from ten values on and
/// without a test); and s is widened by what correlated values have not wandered yet.
struct SequentialInterval {
    static constexpr std::int64_t least_to_see = 10;  ///< values, for a correlation

    double mean = 0;
    double half_width = 0;
    double worth = 0;  ///< independent values
};
/// Nothing below two values.
std::optional<SequentialInterval> sequential_interval(std::span<const double> values);

/// What makes a mean of these values, or its interval, say little.
struct Oddities {
    /// Values further from the median than five deviations, these by the median of the distances
    /// (Hampel's identifier).
    std::int64_t outliers = 0;
    /// A gap in the middle of the sorted values that is more than four times as wide as the
    /// deviation on its two sides: two modes, of two values at least.
    bool two_modes = false;

    bool any() const { return outliers > 0 || two_modes; }
};
/// None below five values.
Oddities oddities_of(std::span<const double> values);

}  // namespace effio
