// SPDX-License-Identifier: BSD-3-Clause
#include "core/saturation.hpp"

#include <algorithm>

#include "core/certainty.hpp"
#include "core/pattern.hpp"

namespace effio {
namespace {

constexpr std::size_t draws = 2000;

std::vector<double> mean_rates(const std::vector<std::vector<double>>& rounds,
                               const std::vector<std::size_t>& drawn) {
    std::vector<double> means(rounds.front().size());
    for (const std::size_t round : drawn) {
        for (std::size_t i = 0; i < means.size(); ++i) means[i] += rounds[round][i];
    }
    for (double& mean : means) mean /= static_cast<double>(drawn.size());
    return means;
}

/// The first number of ranks whose rate is enough.
std::size_t point_of(const std::vector<double>& rates) {
    const double least = Saturation::enough * *std::max_element(rates.begin(), rates.end());
    const auto found =
        std::find_if(rates.begin(), rates.end(), [&](double rate) { return rate >= least; });
    return static_cast<std::size_t>(found - rates.begin());
}

std::vector<std::vector<double>> by_ranks(const std::vector<std::vector<double>>& rounds) {
    std::vector<std::vector<double>> columns(rounds.front().size());
    for (const auto& round : rounds) {
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(round[i]);
    }
    return columns;
}

/// Whether the number of ranks at `point` is enough.
Enough known_of(const std::vector<std::vector<double>>& columns, std::size_t point) {
    const auto own = range95(columns[point]);
    if (!own) return Enough::once;
    const auto is_slower = [&](std::size_t i) {
        return are_apart(columns[i], columns[point]) && range95(columns[i])->high < own->low;
    };
    for (std::size_t i = 0; i < point; ++i) {
        if (!is_slower(i)) return Enough::unclear;
    }
    if (point > 0 && point + 1 == columns.size()) return Enough::growing;
    for (std::size_t i = point + 1; i < columns.size(); ++i) {
        if (own->low < Saturation::enough * range95(columns[i])->high) return Enough::unclear;
    }
    return Enough::known;
}

/// `falls`: the rounds agree that the most ranks are slower than the best number.
Shape shape_of(const std::vector<int>& ranks, const Saturation& s, bool falls) {
    const double growth = static_cast<double>(ranks.back()) / ranks.front();
    if (falls && s.rates.back() < Saturation::enough * s.rates[s.best]) return Shape::falling;
    if (s.point == 0) return Shape::flat;
    if (s.rates.back() >= Saturation::linear * growth * s.rates.front()) return Shape::linear;
    return s.point + 1 == ranks.size() ? Shape::growing : Shape::level;
}

}  // namespace

std::string_view name(Enough known) {
    switch (known) {
        case Enough::known:
            return "known";
        case Enough::once:
            return "once";
        case Enough::growing:
            return "growing";
        case Enough::unclear:
            break;
    }
    return "unclear";
}

std::string_view name(Shape shape) {
    switch (shape) {
        case Shape::linear:
            return "linear";
        case Shape::growing:
            return "growing";
        case Shape::level:
            return "level";
        case Shape::flat:
            return "flat";
        case Shape::falling:
            break;
    }
    return "falling";
}

Saturation find_saturation(const std::vector<int>& ranks,
                           const std::vector<std::vector<double>>& rounds) {
    std::vector<std::size_t> drawn(rounds.size());
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = i;
    Saturation s;
    s.rates = mean_rates(rounds, drawn);
    s.point = point_of(s.rates);
    s.best = static_cast<std::size_t>(std::max_element(s.rates.begin(), s.rates.end()) -
                                      s.rates.begin());

    std::vector<std::size_t> points;
    std::vector<double> losses;  // of the most ranks against the best number
    std::uint64_t seed = 0;
    for (std::size_t draw = 0; draw < draws; ++draw) {
        for (std::size_t& round : drawn) round = mix64(seed++) % rounds.size();
        const auto rates = mean_rates(rounds, drawn);
        points.push_back(point_of(rates));
        losses.push_back(rates[s.best] - rates.back());
    }
    std::sort(points.begin(), points.end());
    // Ranks beyond the best number are slower only if 97.5 % of the draws and the intervals agree.
    std::sort(losses.begin(), losses.end());
    const auto columns = by_ranks(rounds);
    s.known = known_of(columns, s.point);
    s.shape =
        shape_of(ranks, s, losses[draws / 40] > 0 && are_apart(columns[s.best], columns.back()));
    s.low = points[draws / 40];
    s.high = points[draws - 1 - draws / 40];
    return s;
}

}  // namespace effio
