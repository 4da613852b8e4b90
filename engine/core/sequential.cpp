// SPDX-License-Identifier: BSD-3-Clause
#include "core/sequential.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rounds.hpp"
#include "core/stats.hpp"

namespace effio {
namespace {

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Equal values of a model differ by rounding errors, which are below this share.
constexpr double rounding_share = 1e-9;

}  // namespace

std::optional<SequentialInterval> sequential_interval(std::span<const double> values) {
    if (values.size() < 2) return {};
    constexpr double error = 0.05;
    constexpr double narrowest_at = 20;
    const double logarithm = -2 * std::log(error);
    const double r2 = (logarithm + std::log(logarithm + 1)) / narrowest_at;

    const Samples all = samples_of(values);
    const auto n = static_cast<double>(values.size());
    double correlation = 0;
    const bool scatters = all.deviation() > rounding_share * std::abs(all.mean());
    if (all.count() >= SequentialInterval::least_to_see && scatters) {
        constexpr double most = 0.95;
        correlation = std::clamp((n * correlation_of_neighbors(values) + 1) / (n - 4), 0.0, most);
    }
    const double times = (1 + correlation) / (1 - correlation);
    const double too_small = std::max(1 - (times - 1) / (n - 1), 1 / n);
    SequentialInterval found;
    found.mean = all.mean();
    found.worth = n / times;
    const double worth = std::max(found.worth, 2.0);
    constexpr double gaussian_975 = 1.959963984540054;
    const double student = student_t_975(std::floor(worth) - 1) / gaussian_975;
    const double root = std::sqrt(worth * r2 + 1);
    found.half_width = all.deviation() / std::sqrt(too_small) * student * root *
                       std::sqrt(2 / (worth * worth * r2) * std::log(root / error));
    return found;
}

Oddities oddities_of(std::span<const double> values) {
    Oddities found;
    constexpr std::size_t least = 5;
    if (values.size() < least) return found;
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const double median = median_of(sorted);
    const double nothing = rounding_share * std::abs(median);

    std::vector<double> distances;
    for (const double value : sorted) distances.push_back(std::abs(value - median));
    constexpr double of_gaussian = 1.4826;  // standard deviation over the median of the distances
    constexpr double far = 5;
    const double limit = std::max(far * of_gaussian * median_of(distances), nothing);
    found.outliers =
        std::count_if(distances.begin(), distances.end(), [&](double d) { return d > limit; });

    const std::size_t n = sorted.size();
    std::size_t below = 0;
    double gap = 0;
    for (std::size_t i = 2; i + 2 <= n; ++i) {
        if (sorted[i] - sorted[i - 1] <= gap) continue;
        gap = sorted[i] - sorted[i - 1];
        below = i;
    }
    if (gap <= nothing) return found;
    const std::span<const double> all(sorted);
    double squares = 0;
    for (const auto& side : {all.first(below), all.subspan(below)}) {
        const double mean = samples_of(side).mean();
        for (const double value : side) squares += (value - mean) * (value - mean);
    }
    constexpr double wide = 4;
    found.two_modes = gap > wide * std::sqrt(squares / static_cast<double>(n - 2));
    return found;
}

}  // namespace effio
