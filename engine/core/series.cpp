// SPDX-License-Identifier: BSD-3-Clause
#include "core/series.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effio {

void TimeSeries::add(double from, double to, double amount) {
    from = std::max(from, 0.0);
    to = std::max(to, from);
    while (to >= width_ * static_cast<double>(most_slices)) widen();
    const auto slice_of = [this](double t) { return static_cast<std::size_t>(t / width_); };
    const std::size_t last = slice_of(to);
    if (slices_.size() <= last) slices_.resize(last + 1);
    const std::size_t first = slice_of(from);
    if (first == last) {
        slices_[last] += amount;
        return;
    }
    for (std::size_t i = first; i <= last; ++i) {
        const double begin = std::max(from, static_cast<double>(i) * width_);
        const double end = std::min(to, static_cast<double>(i + 1) * width_);
        slices_[i] += amount * (end - begin) / (to - from);
    }
}

void TimeSeries::delay(double seconds) {
    const auto missing = [&] { return static_cast<std::size_t>(std::lround(seconds / width_)); };
    if (slices_.empty()) return;
    while (slices_.size() + missing() > most_slices) widen();
    slices_.insert(slices_.begin(), missing(), 0.0);
}

void TimeSeries::widen() {
    width_ *= 2;
    const std::size_t merged = (slices_.size() + 1) / 2;
    for (std::size_t i = 0; i < merged; ++i) {
        const double second = 2 * i + 1 < slices_.size() ? slices_[2 * i + 1] : 0.0;
        slices_[i] = slices_[2 * i] + second;
    }
    slices_.resize(merged);
}

void TimeSeries::widen_to(double width) {
    while (width_ < width) widen();
}

TimeSeries TimeSeries::in_seconds() const {
    TimeSeries wide = *this;
    wide.widen_to(1);
    return wide;
}

bool SteadyRule::add(double rate) {
    rates_.push_back(rate);
    if (rates_.size() > static_cast<std::size_t>(settings_.window)) rates_.erase(rates_.begin());
    const auto judged = verdict();
    return judged && judged->steady;
}

std::optional<SteadyRule::Verdict> SteadyRule::verdict() const {
    const auto n = static_cast<double>(settings_.window);
    if (rates_.size() < static_cast<std::size_t>(settings_.window)) return {};
    Verdict v;
    v.mean = std::accumulate(rates_.begin(), rates_.end(), 0.0) / n;
    const auto [low, high] = std::minmax_element(rates_.begin(), rates_.end());
    v.range = *high - *low;
    // Slope of the line through (0, r0) … (n-1, r(n-1)): sum((i - c) r) / sum((i - c)^2).
    const double centre = (n - 1) / 2;
    double weighted = 0;
    double squares = 0;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
        const double x = static_cast<double>(i) - centre;
        weighted += x * rates_[i];
        squares += x * x;
    }
    v.drift = squares > 0 ? weighted / squares * (n - 1) : 0;
    v.steady = v.mean > 0 && v.range <= 2 * settings_.tolerance * v.mean &&
               std::abs(v.drift) <= settings_.tolerance * v.mean;
    return v;
}

}  // namespace effio
