// SPDX-License-Identifier: BSD-3-Clause
// Statements about a mean, or a value that is computed from means, from values that were measured
// one after another (docs/reading.md, How many repetitions). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace effio {

/// The 95 % interval of the mean of values in the order in which they were measured: mean ±
/// half_width. The driver computes the same interval (docs/statistics.md, What repetitions allow).
///
/// Student's t. From `least_to_see` values on, autocorrelation widens it: n values with a
/// correlation r of neighbors count as n (1 - r)/(1 + r) independent ones, the effective size of a
/// process with r as its only memory (AR(1)). r is corrected for its bias of (1 + 3 r)/n (Kendall,
/// Note on bias in the estimation of autocorrelation, Biometrika 41, 1954), and is at least 0. If
/// the error of the circular block bootstrap is larger, that error counts; it is computed, not
/// drawn. Its block length is automatic: Politis and White, Automatic block-length selection for
/// the dependent bootstrap, Econometric Reviews 23, 2004, with the correction of Patton, Politis
/// and White, Econometric Reviews 28, 2009.
struct RoundsInterval {
    /// Fewer values have a range (min to max), and no interval.
    static constexpr std::int64_t least = 5;
    static constexpr std::int64_t least_to_see = 20;
    /// With fewer independent values their correlation is not known.
    static constexpr double least_worth = 8;
    /// With fewer other values it is not known how far a first value may be from them.
    static constexpr std::int64_t least_others = 4;

    std::int64_t count = 0;
    double mean = 0;
    double half_width = 0;
    double correlation = 0;   ///< r; 0 below least_to_see values
    double worth = 0;         ///< number of independent values that these count as
    double drift_chance = 1;  ///< that the halves' means differ so by chance (Welch's t)
    /// That the first value is by chance as far from the mean of the others (Student's t of one
    /// further value): caches, connections and directories that only the first one finds empty.
    double warm_up_chance = 1;
    double mean_without_first = 0;

    /// The values are autocorrelated, and too few to know how far.
    bool too_few() const { return correlation > 0 && worth < least_worth; }
};
/// Empty below `RoundsInterval::least` values.
std::optional<RoundsInterval> interval_of_rounds(std::span<const double> values);

/// Block length of the circular block bootstrap: 1 to a third of the values. Needs 5 values.
std::int64_t block_length(std::span<const double> values);

/// Correlation of neighbors, without a correction; 0 where all values are equal.
double correlation_of_neighbors(std::span<const double> values);

/// A composed value without one round.
struct LeftOut {
    double value = 0;
    std::int64_t rounds = 0;  ///< in which what this round measured was measured, this one included
};

/// Leaving one out (the jackknife: Tukey 1958; Efron and Stein 1981): one value for each round,
/// whose mean is `whole`, and whose interval is that of `whole`. Where all rounds measured all, and
/// `whole` is a mean, they are the rounds' own values. A round counts by how far the value moves
/// without it; parts that were measured in fewer rounds move it further.
/// Every LeftOut must have at least two rounds; empty below two of them.
std::vector<double> values_by_leaving_out(double whole, std::span<const LeftOut> without);

}  // namespace effio
