// SPDX-License-Identifier: BSD-3-Clause
// What rounds that were measured one after another say of a mean, or of a value that is composed of
// means (docs/reading.md, How many repetitions). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace effio {

/// The 95 % interval of the mean of values in the order in which they were measured: mean ±
/// half_width.
///
/// Values that hang together, a slow wave of load, are worth fewer independent ones. From
/// `least_to_see` values on the correlation of neighbours is looked at: r of n values, whose
/// expectation without correlation is -1/n and whose deviation 1/sqrt(n). Above that by a deviation
/// it counts with its bias taken off, ρ = (n r + 1)/(n - 4), as that of a process whose memory is
/// one value long (AR(1)); n values are then worth n (1 - ρ)/(1 + ρ).
struct RoundsInterval {
    static constexpr std::int64_t least_to_see = 20;
    /// Fewer than so many independent values do not say how far they hang together.
    static constexpr double least_worth = 8;
    /// Fewer than so many others do not say how far a first value may be from them.
    static constexpr std::int64_t least_others = 4;

    std::int64_t count = 0;
    double mean = 0;
    double half_width = 0;    ///< Student's t, with the degrees of freedom of the worth
    double correlation = 0;   ///< ρ; 0 where neighbours do not hang together, or count is too low
    double worth = 0;         ///< independent values; `count` without correlation
    double drift_chance = 1;  ///< that the halves' means differ so by chance (Welch's t)
    /// That the first value is by chance as far from the mean of the others (Student's t of one
    /// further value): caches, connections and directories that only the first one finds empty.
    double warm_up_chance = 1;
    double mean_without_first = 0;

    /// They hang together, and are too few to say how far: the interval may be untrue.
    bool too_few() const { return correlation > 0 && worth < least_worth; }
};
/// Nothing below two values.
std::optional<RoundsInterval> interval_of_rounds(std::span<const double> values);

/// Correlation of neighbours, without a correction; 0 where all values are equal.
double correlation_of_neighbours(std::span<const double> values);

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
