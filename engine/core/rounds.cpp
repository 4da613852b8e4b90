// SPDX-License-Identifier: BSD-3-Clause
#include "core/rounds.hpp"

#include <algorithm>
#include <cmath>

#include "core/stats.hpp"

namespace effio {

double correlation_of_neighbors(std::span<const double> values) {
    const double mean = samples_of(values).mean();
    double products = 0;
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double here = values[i] - mean;
        squares += here * here;
        if (i > 0) products += here * (values[i - 1] - mean);
    }
    return squares > 0 ? products / squares : 0;
}

namespace {

std::int64_t whole(double value) {
    return static_cast<std::int64_t>(value);
}

/// Equal values of a model differ by rounding errors.
bool scatter(const Samples& all) {
    constexpr double rounding = 1e-9;
    return all.max() - all.min() > rounding * std::abs(all.mean());
}

double autocovariance(std::span<const double> values, std::size_t lag) {
    const double mean = samples_of(values).mean();
    double products = 0;
    for (std::size_t i = lag; i < values.size(); ++i) {
        products += (values[i] - mean) * (values[i - lag] - mean);
    }
    return products / static_cast<double>(values.size());
}

/// Standard error of the mean over circular blocks of this length: the result of the block
/// bootstrap without drawing.
double error_of_blocks(std::span<const double> values, std::int64_t length) {
    const double mean = samples_of(values).mean();
    const auto n = values.size();
    const auto block = static_cast<std::size_t>(length);
    double sum = 0;
    for (std::size_t i = 0; i < block; ++i) sum += values[i] - mean;
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        squares += sum * sum;
        sum += values[(i + block) % n] - values[i];
    }
    // Means of blocks vary around the mean of all values: n / (n - length) corrects for that.
    const auto count = static_cast<double>(n);
    const auto l = static_cast<double>(length);
    return std::sqrt(squares / count / l / (count - l));
}

double chance_of_first(double first, const Samples& others) {
    if (others.count() < RoundsInterval::least_others) return 1;
    const double distance = std::abs(first - others.mean());
    // Equal values, as a model gives them, differ by what arithmetic rounds off.
    constexpr double rounding = 1e-9;
    if (distance <= rounding * std::abs(others.mean())) return 1;
    const auto n = static_cast<double>(others.count());
    const double expected = others.deviation() * std::sqrt(1 + 1 / n);
    return expected > 0 ? student_t_chance(distance / expected, n - 1) : 0;
}

}  // namespace

std::int64_t block_length(std::span<const double> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    const auto n = static_cast<double>(count);
    const double decades = std::log10(n);
    const auto near = std::max<std::int64_t>(5, whole(std::ceil(std::sqrt(decades))));
    const std::int64_t most = std::min(count - 2, whole(std::ceil(std::sqrt(n))) + near);
    std::vector<double> covariance;
    for (std::int64_t lag = 0; lag <= most; ++lag) {
        covariance.push_back(autocovariance(values, static_cast<std::size_t>(lag)));
    }
    const double variance = covariance.front();
    const auto at = [&](std::int64_t lag) { return covariance[static_cast<std::size_t>(lag)]; };
    const auto is_small = [&](std::int64_t lag) {
        const double scale = variance > 0 ? variance : 1;
        return std::abs(at(lag) / scale) < 2 * std::sqrt(decades / n);
    };
    // The smallest lag after which `near` consecutive correlations are negligible.
    std::int64_t width = most;
    for (std::int64_t lag = most - 1; lag >= 0; --lag) {
        bool quiet = true;
        for (std::int64_t next = lag + 1; next <= std::min(lag + near, most); ++next) {
            quiet = quiet && is_small(next);
        }
        if (quiet) width = lag;
    }
    if (width == 0) return 1;
    double slope = 0;
    double density = variance;
    for (std::int64_t lag = 1; lag <= most; ++lag) {
        const auto l = static_cast<double>(lag);
        // The flat-top window of Politis and Romano.
        const double share = l / (2 * static_cast<double>(width));
        const double window = std::clamp(2 * (1 - share), 0.0, 1.0);
        slope += 2 * window * l * at(lag);
        density += 2 * window * at(lag);
    }
    if (density <= 0) return 1;
    const double length = std::cbrt(1.5 * (slope / density) * (slope / density) * n);
    return whole(std::clamp(std::ceil(length), 1.0, std::max(1.0, std::floor(n / 3))));
}

std::optional<RoundsInterval> interval_of_rounds(std::span<const double> values) {
    const Samples all = samples_of(values);
    if (all.count() < RoundsInterval::least) return {};
    const auto n = static_cast<double>(values.size());
    const std::size_t half = values.size() / 2;
    RoundsInterval found;
    found.count = all.count();
    found.mean = all.mean();
    found.worth = n;
    found.drift_chance =
        chance_of_difference(samples_of(values.first(half)), samples_of(values.last(half)));
    const Samples others = samples_of(values.subspan(1));
    found.mean_without_first = others.mean();
    found.warm_up_chance = chance_of_first(values.front(), others);
    if (found.count >= RoundsInterval::least_to_see && scatter(all)) {
        constexpr double most = 0.95;  // the mean of a process with more memory is not known
        const double r = correlation_of_neighbors(values);
        const double bias = (1 + 3 * std::clamp(r, 0.0, 1.0)) / n;
        found.correlation = std::clamp(r + bias, 0.0, most);
        found.worth = n * (1 - found.correlation) / (1 + found.correlation);
    }
    found.half_width =
        student_t_975(std::max(1.0, found.worth - 1)) * all.deviation() / std::sqrt(found.worth);
    if (found.count < RoundsInterval::least_to_see) return found;
    const std::int64_t length = block_length(values);
    if (length > 1) {
        const double freedom = std::max(1.0, n / static_cast<double>(length) - 1);
        const double of_blocks = student_t_975(freedom) * error_of_blocks(values, length);
        found.half_width = std::max(found.half_width, of_blocks);
    }
    return found;
}

std::vector<double> values_by_leaving_out(double whole, std::span<const LeftOut> without) {
    if (without.size() < 2) return {};
    const auto all = static_cast<double>(without.size());
    double mean = 0;
    for (const LeftOut& one : without) mean += one.value / all;
    std::vector<double> values;
    double sum = 0;
    for (const LeftOut& one : without) {
        // What a round moves is its distance over (rounds - 1); the variance of the mean of these
        // values is to be sum((rounds - 1) / rounds * moved^2).
        const auto rounds = static_cast<double>(one.rounds);
        const double scale = std::sqrt(all * (all - 1) * (rounds - 1) / rounds);
        values.push_back((mean - one.value) * scale);
        sum += values.back();
    }
    for (double& value : values) value += whole - sum / all;
    return values;
}

}  // namespace effio
