// SPDX-License-Identifier: BSD-3-Clause
#include "core/stats.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effio {
namespace {

/// The continued fraction of the incomplete beta function (Abramowitz & Stegun 26.5.8), from its
/// begin by Lentz's method; it converges soon for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
    constexpr int most_terms = 300;
    constexpr double tiny = 1e-300;
    constexpr double enough = 1e-12;
    const auto not_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
    double c = 1;
    double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
    double fraction = d;
    for (int m = 1; m <= most_terms; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        fraction *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        fraction *= d * c;
        if (std::abs(d * c - 1) < enough) break;
    }
    return fraction;
}

/// The regularized incomplete beta function of 0 <= x <= 1.
double incomplete_beta(double a, double b, double x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const double factor = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                   a * std::log(x) + b * std::log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return factor * beta_fraction(a, b, x) / a;
    return 1 - factor * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

void Samples::add(double value) {
    ++count_;
    const double distance = value - mean_;
    mean_ += distance / static_cast<double>(count_);
    squares_ += distance * (value - mean_);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
}

double Samples::deviation() const {
    return count_ < 2 ? 0.0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

double Samples::population_deviation() const {
    return count_ < 1 ? 0.0 : std::sqrt(squares_ / static_cast<double>(count_));
}

double Samples::confidence95() const {
    if (count_ < 2) return 0.0;
    return student_t_975(static_cast<double>(count_ - 1)) * deviation() /
           std::sqrt(static_cast<double>(count_));
}

Samples samples_of(std::span<const double> values) {
    Samples samples;
    for (const double value : values) samples.add(value);
    return samples;
}

double student_t_975(double freedom) {
    const double n = std::max(freedom, 1.0);
    const double z = 1.959963984540054;
    const double z2 = z * z;
    const double g1 = z * (z2 + 1) / 4;
    const double g2 = z * (5 * z2 * z2 + 16 * z2 + 3) / 96;
    const double g3 = z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / 384;
    constexpr double expansion_from = 200;
    if (n >= expansion_from) return z + g1 / n + g2 / (n * n) + g3 / (n * n * n);
    // Bisection: the probability of a larger |t| falls with t.
    double low = z;
    double high = 12.8;  // more than with one degree of freedom
    constexpr int steps = 50;
    for (int i = 0; i < steps; ++i) {
        const double middle = (low + high) / 2;
        const bool below = incomplete_beta(n / 2, 0.5, n / (n + middle * middle)) > 0.05;
        (below ? low : high) = middle;
    }
    return (low + high) / 2;
}

double student_t_chance(double t, double freedom) {
    constexpr double normal_from = 1000;  // degrees of freedom
    if (freedom > normal_from) return std::erfc(std::abs(t) / std::sqrt(2.0));
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double chance_of_difference(const Samples& a, const Samples& b) {
    if (a.count() < 2 || b.count() < 2) return 1;
    const auto of_mean = [](const Samples& s) {
        return s.deviation() * s.deviation() / static_cast<double>(s.count());
    };
    const double both = of_mean(a) + of_mean(b);
    const double distance = std::abs(a.mean() - b.mean());
    // Equal values, as a model gives them, differ by what arithmetic rounds off.
    constexpr double rounding = 1e-9;
    if (distance <= rounding * std::max(std::abs(a.mean()), std::abs(b.mean()))) return 1;
    if (both == 0) return 0;
    const auto share = [&](const Samples& s) {
        return of_mean(s) * of_mean(s) / static_cast<double>(s.count() - 1);
    };
    const double freedom = both * both / (share(a) + share(b));
    return student_t_chance(distance / std::sqrt(both), freedom);
}

double arithmetic_mean(std::span<const double> values) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double geometric_mean(std::span<const double> values) {
    double logs = 0;
    for (const double value : values) {
        if (!(value > 0)) return std::numeric_limits<double>::quiet_NaN();
        logs += std::log(value);
    }
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    return std::exp(logs / static_cast<double>(values.size()));
}

void Histogram::merge(const Histogram& other) {
    for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
    sum_ns_ += other.sum_ns_;
    if (other.min_ns_ <= other.max_ns_) widen(other.min_ns_, other.max_ns_);
}

void Histogram::widen(std::uint64_t min_ns, std::uint64_t max_ns) {
    min_ns_ = std::min(min_ns_, min_ns);
    max_ns_ = std::max(max_ns_, max_ns);
    range_ns_ = max_ns_ - min_ns_;
}

std::uint64_t Histogram::count() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double Histogram::mean_seconds() const {
    const std::uint64_t n = count();
    return n == 0 ? 0.0 : 1e-9 * static_cast<double>(sum_ns_) / static_cast<double>(n);
}

double Histogram::min_seconds() const {
    return max_ns_ < min_ns_ ? 0.0 : 1e-9 * static_cast<double>(min_ns_);
}

double Histogram::max_seconds() const {
    return 1e-9 * static_cast<double>(max_ns_);
}

std::uint64_t Histogram::bucket_begin_ns(std::size_t bucket) {
    if (bucket < exact) return bucket;
    const std::size_t octave = 6 + (bucket - exact) / per_octave;
    const std::uint64_t part = (bucket - exact) % per_octave;
    return (std::uint64_t{per_octave} + part) << (octave - 5);
}

double Histogram::quantile_seconds(double q) const {
    const std::uint64_t n = count();
    if (n == 0) return 0.0;
    const auto wanted = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(n))));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        seen += counts_[i];
        if (seen < wanted) continue;
        const double begin = static_cast<double>(bucket_begin_ns(i));
        const double end = i + 1 < buckets ? static_cast<double>(bucket_begin_ns(i + 1)) : begin;
        const double middle = i < exact ? begin : 0.5 * (begin + end);
        return 1e-9 *
               std::clamp(middle, static_cast<double>(min_ns_), static_cast<double>(max_ns_));
    }
    return max_seconds();
}

std::vector<std::uint64_t> Histogram::additive_state() const {
    std::vector<std::uint64_t> state(counts_.begin(), counts_.end());
    state.push_back(sum_ns_);
    return state;
}

Histogram Histogram::from_state(std::span<const std::uint64_t> additive, std::uint64_t min_ns,
                                std::uint64_t max_ns) {
    Histogram result;
    std::copy_n(additive.begin(), buckets, result.counts_.begin());
    result.sum_ns_ = additive[buckets];
    if (min_ns <= max_ns) result.widen(min_ns, max_ns);
    return result;
}

double call_timing_cost(const Clock& clock) {
    if (clock.is_virtual()) return 0;
    // The fastest of several batches: the one with the least interference by other processes.
    constexpr int batches = 20;
    constexpr int calls = 50;
    double best = 1.0;
    Histogram histogram;
    for (int batch = 0; batch < batches; ++batch) {
        const double start = clock.now();
        for (int i = 0; i < calls; ++i) {
            const CallStart begin = clock.start_call();
            histogram.add_nanoseconds(clock.nanoseconds_since(begin));
        }
        best = std::min(best, (clock.now() - start) / calls);
    }
    // Using the histogram keeps the compiler from removing it.
    return histogram.count() > 0 ? best : 0;
}

}  // namespace effio
