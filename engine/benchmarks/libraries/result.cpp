// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/libraries/result.hpp"

#include <algorithm>

namespace effio::libraries {

double Series::rate() const {
    return arithmetic_mean(rates);
}

double Series::synced_rate() const {
    return arithmetic_mean(synced);
}

double Series::mean_seconds() const {
    return arithmetic_mean(seconds);
}

void Comparison::add(const Cell& cell) {
    if (!cell.run.valid) return;
    auto at = std::find_if(series_.begin(), series_.end(), [&](const Series& s) {
        return s.point == cell.point && s.write == cell.run.write;
    });
    if (at == series_.end()) {
        series_.push_back({cell.point, cell.run.write, {}, {}, {}});
        at = series_.end() - 1;
    }
    at->rates.push_back(cell.run.rate());
    at->synced.push_back(cell.run.synced_rate());
    at->seconds.push_back(cell.run.counted_seconds());
}

const Series* Comparison::find(const Point& point, bool write) const {
    const auto at = std::find_if(series_.begin(), series_.end(), [&](const Series& s) {
        return s.point == point && s.write == write;
    });
    return at == series_.end() ? nullptr : &*at;
}

const std::vector<std::string>& Comparison::bases() {
    // The study's form first.
    static const std::vector<std::string> names{"fortran-fpp", "posix-fpp"};
    return names;
}

std::optional<double> Comparison::overhead(const Series& of) const {
    for (const auto& base : bases()) {
        const Series* fpp = find({base, "none", of.point.edge, of.point.processes}, of.write);
        if (fpp == nullptr || of.point.library == base || fpp->mean_seconds() <= 0) continue;
        return of.mean_seconds() / fpp->mean_seconds() - 1;
    }
    return {};
}

std::optional<double> Comparison::hint_gain(const Series& of) const {
    if (of.point.hints == "none") return {};
    Point plain = of.point;
    plain.hints = "none";
    const Series* without = find(plain, of.write);
    if (without == nullptr || without->rate() <= 0) return {};
    return of.rate() / without->rate() - 1;
}

std::optional<double> Comparison::mean_hint_gain(const Point& point, bool write) const {
    std::vector<double> gains;
    for (const auto& s : series_) {
        if (s.write != write || s.point.library != point.library || s.point.hints != point.hints ||
            s.point.edge != point.edge) {
            continue;
        }
        if (const auto gain = hint_gain(s)) gains.push_back(*gain);
    }
    if (gains.empty()) return {};
    return arithmetic_mean(gains);
}

std::optional<Comparison::Layer> Comparison::layer(const Series& of) const {
    if (of.point.hints != "none") return {};
    const std::string below(layer_below(of.point.library));
    const double own = of.mean_seconds();
    if (below.empty()) {
        if (of.point.library != "posix") return {};
        return Layer{of.point.library, {}, own, own};
    }
    const Series* lower = find({below, "none", of.point.edge, of.point.processes}, of.write);
    if (lower == nullptr) return {};
    return Layer{of.point.library, below, own, own - lower->mean_seconds()};
}

}  // namespace effio::libraries
