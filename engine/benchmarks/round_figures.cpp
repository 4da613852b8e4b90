// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/round_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/units.hpp"

namespace effio {
namespace {

/// Each figure speaks for itself, and a run has many of them.
constexpr double by_chance = 0.01;

}  // namespace

Json no_interval(const std::string& why) {
    return Json{{"method", nullptr}, {"none", why}};
}

void set_interval(Figure& figure, const RoundsInterval& interval, const std::string& method) {
    const double half = interval.half_width;
    if (!figure.samples) figure.samples = SampleSummary{};
    figure.samples->count = interval.count;
    figure.samples->low95 = figure.metric.value - half;
    figure.samples->high95 = figure.metric.value + half;
    const bool drifts = interval.drift_chance < by_chance;
    if (drifts) {
        figure.reasons.emplace_back(
            "the interval may be untrue: the second half of the rounds differs from the first by "
            "more than chance");
    }
    if (interval.too_few()) {
        figure.reasons.push_back(
            fmt::format("the interval may be untrue: the rounds hang together, {} are worth {:.1f}",
                        interval.count, interval.worth));
    }
    figure.detail["interval"] = Json{{"method", method},
                                     {"rounds", interval.count},
                                     {"correlation", interval.correlation},
                                     {"worth_rounds", interval.worth},
                                     {"drift", drifts},
                                     {"may_be_untrue", drifts || interval.too_few()}};
}

std::string interval_text(const Figure& figure) {
    if (!figure.samples || !figure.samples->low95 || !(figure.metric.value > 0)) return {};
    const double half = (*figure.samples->high95 - *figure.samples->low95) / 2;
    return fmt::format("± {} (95 %, {})", format_share(half / figure.metric.value),
                       count_of(figure.samples->count, "round"));
}

void RoundFigures::add(Figure figure) {
    auto it = std::find_if(series_.begin(), series_.end(), [&](const Series& s) {
        return s.last.name == figure.name && s.last.where == figure.where;
    });
    if (it == series_.end()) it = series_.insert(it, Series{});
    if (figure.metric.reason.empty() && std::isfinite(figure.metric.value)) {
        it->values.push_back(figure.metric.value);
    } else {
        it->missing = figure.metric.reason;
    }
    it->last = std::move(figure);
}

std::vector<Figure> RoundFigures::figures() const {
    std::vector<Figure> all;
    for (const Series& series : series_) {
        Figure figure = series.last;
        const auto interval = interval_of_rounds(series.values);
        if (!series.missing.empty()) {
            figure.metric =
                Metric::none(figure.metric.unit, series.missing, figure.metric.higher_is_better);
            figure.detail["interval"] = no_interval(series.missing);
        } else if (!interval) {
            figure.detail["interval"] =
                no_interval("measured once (--rounds or --until-ci measure it again)");
        } else {
            figure = mean_of(std::move(figure), samples_of(series.values), "not measured");
            set_interval(figure, *interval, "mean of rounds");
        }
        all.push_back(std::move(figure));
    }
    return all;
}

}  // namespace effio
