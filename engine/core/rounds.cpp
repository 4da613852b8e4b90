// SPDX-License-Identifier: BSD-3-Clause
#include "core/rounds.hpp"

#include <algorithm>
#include <cmath>

#include "core/stats.hpp"

namespace effio {

double correlation_of_neighbours(std::span<const double> values) {
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

std::optional<RoundsInterval> interval_of_rounds(std::span<const double> values) {
    if (values.size() < 2) return {};
    const Samples all = samples_of(values);
    const auto n = static_cast<double>(values.size());
    const std::size_t half = values.size() / 2;
    RoundsInterval found;
    found.count = all.count();
    found.mean = all.mean();
    found.half_width = all.confidence95();
    found.worth = n;
    found.drift_chance =
        chance_of_difference(samples_of(values.first(half)), samples_of(values.last(half)));
    const Samples others = samples_of(values.subspan(1));
    found.mean_without_first = others.mean();
    found.warm_up_chance = chance_of_first(values.front(), others);
    if (found.count < RoundsInterval::least_to_see) return found;
    const double r = correlation_of_neighbours(values);
    if (r + 1 / n <= 1 / std::sqrt(n)) return found;

    constexpr double most = 0.95;  // a process without an end of its memory has no mean
    found.correlation = std::min((n * r + 1) / (n - 4), most);
    const double times = (1 + found.correlation) / (1 - found.correlation);
    found.worth = n / times;
    // The deviation of values that hang together is too small: they have wandered less than they
    // could.
    const double too_small = std::max(1 - (times - 1) / (n - 1), 1 / n);
    const double deviation = all.deviation() / std::sqrt(too_small);
    // Of fewer than three it would be as wide as anything; too_few() says that it may be untrue.
    const double counts = std::max(found.worth, 3.0);
    const auto freedom = static_cast<std::int64_t>(counts) - 1;
    found.half_width = student_t_975(freedom) * deviation / std::sqrt(counts);
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
