// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/enough.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/certainty.hpp"

namespace effio::study {
namespace {

const char* words(Shape shape) {
    switch (shape) {
        case Shape::linear:
            return "the rate grows with the processes, and more may get more";
        case Shape::growing:
            return "the rate still grows, by less than the processes";
        case Shape::level:
            return "the rate grows, then stays level";
        case Shape::flat:
            return "more are not faster";
        case Shape::falling:
            break;
    }
    return "beyond the best number more are slower";
}

struct Curve {
    EnoughRanks enough;
    std::vector<const Mean*> points;
};

std::vector<Curve> curves_of(const Definition& definition, const std::vector<Mean>& means) {
    std::vector<Curve> curves;
    for (const auto& mean : means) {
        if (mean.cell->is_peak || mean.rounds.empty()) continue;
        Json where = mean.where();
        where.erase(definition.scales_over);
        auto curve = std::find_if(curves.begin(), curves.end(),
                                  [&](const Curve& c) { return c.enough.where == where; });
        if (curve == curves.end()) {
            curve = curves.insert(curve, Curve{});
            curve->enough.where = std::move(where);
            curve->enough.where_text = fmt::format("{} {}", mean.cell->pattern, mean.pass.name);
            for (const auto& axis : mean.cell->axes) {
                if (axis.name == definition.scales_over || axis.value.is_null()) continue;
                curve->enough.where_text += fmt::format(", {} {}", axis.title, axis.text);
            }
        }
        curve->points.push_back(&mean);
    }
    return curves;
}

std::vector<std::vector<double>> complete_rounds(const std::vector<const Mean*>& points) {
    std::vector<std::vector<double>> rounds;
    for (const auto& [repetition, rate] : points.front()->rounds) {
        std::vector<double> round;
        for (const auto* point : points) {
            const auto found = point->rounds.find(repetition);
            if (found != point->rounds.end()) round.push_back(found->second);
        }
        if (round.size() == points.size()) rounds.push_back(std::move(round));
    }
    return rounds;
}

}  // namespace

std::vector<EnoughRanks> enough_of(const Definition& definition, const std::vector<Mean>& means) {
    std::vector<EnoughRanks> all;
    if (definition.scales_over.empty()) return all;
    for (auto& [enough, points] : curves_of(definition, means)) {
        std::sort(points.begin(), points.end(),
                  [](const auto* a, const auto* b) { return a->cell->ranks < b->cell->ranks; });
        for (const auto* point : points) {
            enough.ranks.push_back(point->cell->ranks);
            if (!enough.fault_text.empty() || point->fault_text().empty()) continue;
            enough.fault_text = fmt::format("; with {}: {}", count_of(enough.ranks.back(), "rank"),
                                            point->fault_text());
        }
        const auto rounds = complete_rounds(points);
        if (points.size() < 2 || rounds.empty()) continue;
        enough.rounds = std::ssize(rounds);
        enough.found = find_saturation(enough.ranks, rounds);
        all.push_back(std::move(enough));
    }
    return all;
}

const Fields<EnoughRanks>& enough_fields() {
    using E = EnoughRanks;
    static const Fields<E> fields{
        {"of_ranks", Unit::count, "most ranks measured", [](const E& e) { return e.ranks.back(); }},
        {"rate_bytes_per_second", Unit::bytes_per_second, "with enough ranks",
         [](const E& e) { return e.found.rates[e.found.point]; }},
        {"best_ranks", Unit::count, "with the highest rate",
         [](const E& e) { return e.ranks[e.found.best]; }},
        {"best_rate_bytes_per_second", Unit::bytes_per_second, "the highest rate",
         [](const E& e) { return e.found.rates[e.found.best]; }},
        {"fewest_ranks", Unit::count, "fewest ranks measured",
         [](const E& e) { return e.ranks.front(); }},
        {"fewest_rate_bytes_per_second", Unit::bytes_per_second, "with the fewest ranks",
         [](const E& e) { return e.found.rates.front(); }},
        {"shape", Unit::word, "of the curve", [](const E& e) { return name(e.found.shape); }},
        {"answer", Unit::word, "whether it is known",
         [](const E& e) { return name(e.found.known); }}};
    return fields;
}

Figure EnoughRanks::figure(const std::string& benchmark) const {
    Figure f;
    f.benchmark = benchmark;
    f.name = "enough_ranks";
    f.where = where;
    const std::string why = why_not_known();
    f.metric = why.empty() ? Metric{static_cast<double>(of_point()), "1", false, {}}
                           : Metric::none("1", why, false);
    SampleSummary samples;
    samples.count = rounds;
    if (rounds > 1) {
        samples.low95 = ranks[found.low];
        samples.high95 = ranks[found.high];
    }
    f.samples = samples;
    f.detail = enough_fields().json(*this);
    return f;
}

std::string EnoughRanks::why_not_known() const {
    switch (found.known) {
        case Enough::once:
            return "an answer needs at least two repetitions";
        case Enough::growing:
            return fmt::format("the rate still grows with all {} processes: more may be needed",
                               ranks.back());
        case Enough::unclear:
            return fmt::format("no answer: {}; use more repetitions", why_not_apart(rounds));
        case Enough::known:
            break;
    }
    return {};
}

std::string EnoughRanks::sentence() const {
    if (found.known != Enough::known) {
        std::string text = fmt::format("{}: highest rate {} with {} of {}", where_text,
                                       format_rate(found.rates[found.best]), ranks[found.best],
                                       count_of(ranks.back(), "process"));
        if (found.known == Enough::growing) {
            text += fmt::format("; {} {} {}", ranks.front(), ranks.front() == 1 ? "gets" : "get",
                                format_rate(found.rates.front()));
        }
        if (found.shape == Shape::falling) text += fmt::format("; {}", words(found.shape));
        return text + "; " + why_not_known() + fault_text;
    }
    std::string text = fmt::format("{}: use {} of {} for I/O", where_text, of_point(),
                                   count_of(ranks.back(), "process"));
    if (found.low != found.high && rounds >= RoundsInterval::least) {
        text += fmt::format(" (95 % interval: {} to {})", ranks[found.low], ranks[found.high]);
    }
    text += fmt::format(": {}", format_rate(found.rates[found.point]));
    if (found.best != found.point) {
        text += fmt::format(" of at most {} ({})", format_rate(found.rates[found.best]),
                            count_of(ranks[found.best], "process"));
    }
    if (found.point != 0) {
        text += fmt::format("; {} {} {}", ranks.front(), ranks.front() == 1 ? "gets" : "get",
                            format_rate(found.rates.front()));
    }
    return text + fmt::format("; {}", words(found.shape)) + fault_text;
}

}  // namespace effio::study
