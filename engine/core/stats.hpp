// SPDX-License-Identifier: BSD-3-Clause
// Statistics of samples and of operation times.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/clock.hpp"

namespace effio {

/// Running mean and variance (Welford), minimum and maximum of samples.
class Samples {
  public:
    void add(double value);
    std::int64_t count() const { return count_; }
    double min() const { return min_; }
    double max() const { return max_; }
    double mean() const { return mean_; }
    /// Standard deviation with n-1 in the denominator; 0 below two samples.
    double deviation() const;
    /// Standard deviation with n in the denominator; 0 without samples.
    double population_deviation() const;
    /// Half width of the 95 % confidence interval of the mean (Student's t); 0 below two samples.
    double confidence95() const;

  private:
    std::int64_t count_ = 0;
    double mean_ = 0;
    double squares_ = 0;  ///< sum of squared distances from the mean
    double min_ = std::numeric_limits<double>::infinity();
    double max_ = -std::numeric_limits<double>::infinity();
};

Samples samples_of(std::span<const double> values);

/// 97.5 % quantile of Student's t distribution with `freedom` >= 1 degrees of freedom, which need
/// not be an integer; within 1e-8 of the value. From 200 degrees on by the Cornish-Fisher expansion
/// (Abramowitz & Stegun 26.7.5).
double student_t_975(double freedom);

/// How probable it is that Student's t with `freedom` >= 1 degrees of freedom, which need not be a
/// whole number, is by chance at least as far from 0 as `t`; within 0.001.
double student_t_chance(double t, double freedom);

/// How probable it is that two means differ this much by chance: Welch's t, both tails, variances
/// that need not be equal. 1 below two samples on either side.
double chance_of_difference(const Samples& a, const Samples& b);

double arithmetic_mean(std::span<const double> values);
/// exp(mean(log)); NaN if a value is not positive.
double geometric_mean(std::span<const double> values);

/// Distribution of operation times: log-linear buckets of nanoseconds, merged by adding counts.
///
/// Times below 64 ns have a bucket each; above, every power of two is cut into 32 buckets, so a
/// percentile is within 1.6 % of the true value. The last bucket holds all above about 2 h 24 min.
class Histogram {
  public:
    static constexpr std::size_t exact = 64;
    static constexpr std::size_t per_octave = 32;
    static constexpr std::size_t octaves = 37;
    static constexpr std::size_t buckets = exact + octaves * per_octave;

    void add(double seconds) { add_nanoseconds(nanoseconds_of(seconds)); }
    void add_nanoseconds(std::uint64_t ns) {
        ++counts_[bucket_of(ns)];
        sum_ns_ += ns;
        // Below the minimum the difference wraps around: one comparison for both extremes.
        if (ns - min_ns_ > range_ns_) [[unlikely]]
            widen(ns, ns);
    }
    void merge(const Histogram& other);
    void clear() { *this = Histogram(); }

    std::uint64_t count() const;
    double mean_seconds() const;
    double min_seconds() const;
    double max_seconds() const;
    /// Time below which the fraction `q` (0…1) of the operations are (nearest rank); 0 when empty.
    double quantile_seconds(double q) const;

    std::span<const std::uint64_t> counts() const { return counts_; }
    static std::uint64_t bucket_begin_ns(std::size_t bucket);
    static std::size_t bucket_of(std::uint64_t ns) {
        if (ns < exact) return static_cast<std::size_t>(ns);
        const auto octave = static_cast<std::size_t>(std::bit_width(ns)) - 1;  // >= 6
        const std::size_t bucket =
            exact + (octave - 6) * per_octave + ((ns >> (octave - 5)) & (per_octave - 1));
        return bucket < buckets ? bucket : buckets - 1;
    }

    /// The whole state as integers for a reduction over ranks: [0…buckets) counts, then the sum;
    /// these are added. Extremes are reduced apart.
    std::vector<std::uint64_t> additive_state() const;
    static Histogram from_state(std::span<const std::uint64_t> additive, std::uint64_t min_ns,
                                std::uint64_t max_ns);
    std::uint64_t min_ns() const { return min_ns_; }
    std::uint64_t max_ns() const { return max_ns_; }

  private:
    void widen(std::uint64_t min_ns, std::uint64_t max_ns);

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t sum_ns_ = 0;
    std::uint64_t min_ns_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t max_ns_ = 0;
    std::uint64_t range_ns_ = 0;  ///< between them
};

/// Seconds that timing one call costs: two readings of the clock and an entry in a histogram.
/// Measures for about 20 us; 0 in virtual time.
double call_timing_cost(const Clock& clock);

}  // namespace effio
