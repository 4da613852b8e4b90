// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/libraries/result.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/rounds.hpp"

namespace effio::libraries {
namespace {

std::optional<Gain> gain_of(std::span<const double> logarithms) {
    const auto interval = interval_of_rounds(logarithms);
    if (!interval) return {};
    return Gain{interval->count, std::expm1(interval->mean),
                std::expm1(interval->mean - interval->half_width),
                std::expm1(interval->mean + interval->half_width)};
}

double mean_without(const std::map<std::int64_t, double>& by_repetition, std::int64_t left_out) {
    std::vector<double> rest;
    for (const auto& [repetition, value] : by_repetition) {
        if (repetition != left_out) rest.push_back(value);
    }
    return arithmetic_mean(rest);
}

/// By repetition.
using Rounds = std::map<std::int64_t, double>;

/// `compose` of the means of both, and of those without each repetition. A series that was measured
/// once has no value without it.
template <class Compose>
Composed composed_of_means(const Rounds& own, const Rounds& theirs, const Compose& compose) {
    constexpr std::int64_t none = -1;
    Composed all{compose(mean_without(own, none), mean_without(theirs, none)), {}};
    const bool several = own.size() > 1 && theirs.size() > 1;
    std::map<std::int64_t, std::int64_t> times;  // by repetition: in how many the part was measured
    for (const auto* part : {&own, &theirs}) {
        for (const auto& [repetition, value] : *part) {
            auto& least = times[repetition];
            least = least == 0 ? std::ssize(*part) : std::min(least, std::ssize(*part));
        }
    }
    if (!several) {
        all.without.push_back({all.value, 1});
        return all;
    }
    for (const auto& [repetition, count] : times) {
        all.without.push_back(
            {compose(mean_without(own, repetition), mean_without(theirs, repetition)), count});
    }
    return all;
}

}  // namespace

Comparison::Comparison(const std::vector<study::Mean>& means) {
    for (const auto& mean : means) {
        if (mean.rates.count() == 0) continue;
        const auto& axes = mean.cell->axes;
        series_.push_back({{axes[0].text, axes[1].text, axes[2].value.get<std::int64_t>(),
                            axes[3].value.get<std::int64_t>()},
                           mean.pass.writes(),
                           &mean});
    }
}

const PointMean* Comparison::find(const Point& point, bool write) const {
    const auto at = std::find_if(series_.begin(), series_.end(), [&](const PointMean& s) {
        return s.point == point && s.write == write;
    });
    return at == series_.end() ? nullptr : &*at;
}

std::string_view Comparison::base() const {
    for (const std::string_view name : {"fortran-fpp", "posix-fpp"}) {
        const bool measured = std::any_of(series_.begin(), series_.end(),
                                          [&](const auto& s) { return s.point.library == name; });
        if (measured) return name;
    }
    return {};
}

std::optional<Composed> Comparison::overhead(const PointMean& of) const {
    if (of.point.library == base()) return {};
    const PointMean* fpp =
        find({std::string(base()), "none", of.point.edge, of.point.processes}, of.write);
    if (fpp == nullptr || of.mean->rates.mean() <= 0) return {};
    // Of the mean rates that are shown next to it: a ratio of mean times may contradict them.
    return composed_of_means(of.mean->rounds, fpp->mean->rounds,
                             [](double rate, double base) { return base / rate - 1; });
}

const PointMean* Comparison::fastest_write() const {
    const auto on_storage = [](const PointMean& s) {
        return s.mean->flushed || s.mean->whereabouts() == Whereabouts::device;
    };
    const PointMean* best = nullptr;
    for (const PointMean& s : series_) {
        if (!s.write) continue;
        const bool better =
            best == nullptr || (on_storage(s) == on_storage(*best)
                                    ? s.mean->synced_rates.mean() > best->mean->synced_rates.mean()
                                    : on_storage(s));
        if (better) best = &s;
    }
    return best;
}

std::map<std::int64_t, double> Comparison::log_ratios(const PointMean& of) const {
    std::map<std::int64_t, double> ratios;
    if (of.point.hints == "none") return ratios;
    Point plain = of.point;
    plain.hints = "none";
    const PointMean* without = find(plain, of.write);
    if (without == nullptr) return ratios;
    for (const auto& [repetition, rate] : of.mean->rounds) {
        const auto plainly = without->mean->rounds.find(repetition);
        if (plainly == without->mean->rounds.end() || rate <= 0 || plainly->second <= 0) continue;
        ratios[repetition] = std::log(rate / plainly->second);
    }
    return ratios;
}

std::optional<Gain> Comparison::hint_gain(const PointMean& of) const {
    std::vector<double> logarithms;
    for (const auto& [repetition, ratio] : log_ratios(of)) logarithms.push_back(ratio);
    return gain_of(logarithms);
}

std::optional<Gain> Comparison::mean_hint_gain(const Point& point, bool write) const {
    std::map<std::int64_t, std::vector<double>> by_repetition;
    for (const auto& s : series_) {
        if (s.write != write || s.point.library != point.library || s.point.hints != point.hints ||
            s.point.edge != point.edge) {
            continue;
        }
        for (const auto& [repetition, ratio] : log_ratios(s)) {
            by_repetition[repetition].push_back(ratio);
        }
    }
    std::vector<double> logarithms;
    for (const auto& [repetition, ratios] : by_repetition) {
        logarithms.push_back(arithmetic_mean(ratios));
    }
    return gain_of(logarithms);
}

std::optional<Comparison::Layer> Comparison::layer(const PointMean& of) const {
    if (of.point.hints != "none") return {};
    const std::string below(layer_below(of.point.library));
    const double own = of.seconds();
    if (below.empty()) {
        if (of.point.library != "posix") return {};
        return Layer{of.point.library,
                     {},
                     own,
                     composed_of_means(of.mean->round_seconds, of.mean->round_seconds,
                                       [](double time, double) { return time; })};
    }
    const PointMean* lower = find({below, "none", of.point.edge, of.point.processes}, of.write);
    if (lower == nullptr) return {};
    return Layer{of.point.library, below, own,
                 composed_of_means(of.mean->round_seconds, lower->mean->round_seconds,
                                   [](double time, double less) { return time - less; })};
}

}  // namespace effio::libraries
