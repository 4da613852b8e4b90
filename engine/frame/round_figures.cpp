// SPDX-License-Identifier: BSD-3-Clause
#include "frame/round_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/units.hpp"

namespace effio {
namespace {

/// Each figure speaks for itself, and a run has many of them.
constexpr double by_chance = 0.01;

std::string share_of_first(const RoundsInterval& interval) {
    const double others = interval.mean_without_first;
    const auto n = static_cast<double>(interval.count);
    const double first = n * interval.mean - (n - 1) * others;
    return others != 0 ? format_share(std::abs(first - others) / std::abs(others)) : "?";
}

/// What `detail.interval` is made from.
struct IntervalNote {
    std::optional<std::string> method;
    std::string none;  ///< reason for a missing interval
    RoundsInterval of = {};
    bool unreliable = false;

    bool has_interval() const { return method.has_value(); }
};

const Fields<IntervalNote>& interval_fields() {
    using N = IntervalNote;
    using F = Field<N>;
    const auto known = [](const N& note) { return note.has_interval(); };
    static const Fields<N> fields{
        {"method", Unit::word, "how it was made; null: there is none", &N::method},
        F("none", Unit::word, "why there is none", &N::none).only_if([](const N& note) {
            return !note.has_interval();
        }),
        F("rounds", Unit::count, "values that it was made from",
          [](const N& note) {
              return note.of.count;
          }).only_if(known),
        F("correlation", Unit::number, "of neighboring values, at least 0",
          [](const N& note) {
              return note.of.correlation;
          }).only_if(known),
        F("worth_rounds", Unit::number, "independent values that these count as",
          [](const N& note) {
              return note.of.worth;
          }).only_if(known),
        F("drift", Unit::flag, "the halves differ by more than chance",
          [](const N& note) {
              return note.of.drift_chance < by_chance;
          }).only_if(known),
        F("warm_up", Unit::flag, "the first value differs from the others by more than chance",
          [](const N& note) {
              return note.of.warm_up_chance < by_chance;
          }).only_if(known),
        F("mean_without_first", Unit::number, "in the unit of the figure",
          [](const N& note) {
              return note.of.mean_without_first;
          }).only_if(known),
        F("unreliable", Unit::flag, "`reasons` of the figure say why", &N::unreliable)
            .only_if(known)};
    return fields;
}

Fields<BatchMeans> make_batch_means(Unit unit) {
    using B = BatchMeans;
    using F = Field<B>;
    const auto known = [](const B& b) { return b.of.has_value(); };
    return {
        {"method", Unit::word, "how the interval was made; null: there is none",
         [](const B& b) {
             return b.of ? std::optional<std::string>("batch means") : std::nullopt;
         }},
        F("none", Unit::word, "why there is none", &B::none).only_if([](const B& b) {
            return !b.of;
        }),
        F("unit", Unit::word, "of the rates",
          [unit](const B&) {
              return text_of(unit);
          }).only_if(known),
        F("slices", Unit::count, "of equal time",
          [](const B& b) {
              return b.of->count;
          }).only_if(known),
        F("slice_seconds", Unit::seconds, "length of a slice", &B::slice_seconds).only_if(known),
        F("mean", unit, "mean rate of the slices",
          [](const B& b) {
              return b.of->mean;
          }).only_if(known),
        F("low95", unit, "low end of the 95 % interval",
          [](const B& b) {
              return b.of->mean - b.of->half_width;
          }).only_if(known),
        F("high95", unit, "high end of the 95 % interval",
          [](const B& b) {
              return b.of->mean + b.of->half_width;
          }).only_if(known),
        F("correlation", Unit::number, "of neighboring slices, at least 0",
          [](const B& b) {
              return b.of->correlation;
          }).only_if(known),
        F("worth_slices", Unit::number, "independent slices that these count as",
          [](const B& b) {
              return b.of->worth;
          }).only_if(known),
        F("unreliable", Unit::flag, "`reasons` say why",
          [](const B& b) {
              return !b.doubts.empty();
          }).only_if(known),
        F("reasons", Unit::word, "what makes the interval doubtful", &B::doubts).only_if(known)};
}

}  // namespace

Json no_interval(const std::string& why) {
    return interval_fields().json({{}, why});
}

FieldInfo interval_field() {
    FieldInfo field{"interval", Unit::object, "the 95 % interval, or why there is none"};
    field.members = interval_fields().infos();
    return field;
}

std::vector<std::string> doubts_of(const RoundsInterval& interval, const std::string& noun) {
    std::vector<std::string> doubts;
    if (interval.drift_chance < by_chance) {
        doubts.push_back(
            fmt::format("the interval may be unreliable: the second half of the {}s differs from "
                        "the first by more "
                        "than chance",
                        noun));
    }
    if (interval.warm_up_chance < by_chance) {
        doubts.push_back(
            fmt::format("the interval may be unreliable: the first {} differs from the others by "
                        "more than chance, "
                        "by {} of their mean (a warm-up)",
                        noun, share_of_first(interval)));
    }
    if (interval.too_few()) {
        doubts.push_back(
            fmt::format("the interval may be unreliable: the {}s are autocorrelated: {} of them "
                        "count as {:.1f} independent ones",
                        noun, interval.count, interval.worth));
    }
    return doubts;
}

void set_interval(Figure& figure, const RoundsInterval& interval, const std::string& method,
                  const std::string& noun) {
    const double half = interval.half_width;
    if (!figure.samples) figure.samples = SampleSummary{};
    figure.samples->count = interval.count;
    figure.samples->low95 = figure.metric.value - half;
    figure.samples->high95 = figure.metric.value + half;
    const auto doubts = doubts_of(interval, noun);
    figure.reasons.insert(figure.reasons.end(), doubts.begin(), doubts.end());
    figure.detail["interval"] = interval_fields().json({method, "", interval, !doubts.empty()});
}

namespace {

/// Why so few values have no interval.
Json none_of(std::int64_t count, const std::string& noun) {
    return no_interval(count < 2 ? "measured once (more repetitions or --until-ci)"
                                 : too_few_for_interval(count, noun));
}

}  // namespace

Figure composed_of(Figure figure, std::span<const LeftOut> without, const std::string& noun) {
    SampleSummary& of = figure.samples.emplace();
    of.count = std::ssize(without);
    const auto values = values_by_leaving_out(figure.metric.value, without);
    if (const auto interval = interval_of_rounds(values)) {
        set_interval(figure, *interval, fmt::format("leaving one {} out", noun), noun);
    } else {
        figure.detail["interval"] = none_of(of.count, noun);
    }
    return figure;
}

Figure mean_of(Figure figure, std::span<const double> values, const std::string& missing,
               const std::string& noun) {
    if (values.empty()) {
        figure.metric.reason = missing;
        figure.detail["interval"] = no_interval(missing);
        return figure;
    }
    const Samples samples = samples_of(values);
    figure.metric.value = samples.mean();
    SampleSummary& of = figure.samples.emplace();
    of.count = samples.count();
    of.min = samples.min();
    of.max = samples.max();
    if (of.count > 1) of.deviation = samples.deviation();
    if (const auto interval = interval_of_rounds(values)) {
        set_interval(figure, *interval, fmt::format("mean of {}s", noun), noun);
    } else {
        figure.detail["interval"] = none_of(of.count, noun);
    }
    return figure;
}

BatchMeans::BatchMeans(const Batches& batches)
    : of(batches.interval()), none(batches.none), slice_seconds(batches.seconds) {
    if (of) doubts = doubts_of(*of, "slice");
}

const Fields<BatchMeans>& batch_means_fields(Unit unit) {
    static const Fields<BatchMeans> of_bytes = make_batch_means(Unit::bytes_per_second);
    static const Fields<BatchMeans> of_operations = make_batch_means(Unit::operations_per_second);
    return unit == Unit::bytes_per_second ? of_bytes : of_operations;
}

std::string batch_means_text(const Batches& batches) {
    const auto interval = batches.interval();
    if (!interval || !(interval->mean > 0)) return {};
    const bool unreliable = !doubts_of(*interval, "slice").empty();
    return fmt::format("calls ± {} (95 %, {}{})",
                       format_share(interval->half_width / interval->mean),
                       count_of(interval->count, "slice"), unreliable ? "; may be unreliable" : "");
}

std::string counted_text(std::int64_t valid, std::int64_t invalid, std::int64_t wrong,
                         const std::string& noun) {
    std::string text = std::to_string(valid);
    if (invalid > 0) text += fmt::format(" + {} INVALID", invalid);
    if (wrong > 0) {
        text +=
            fmt::format(", {} WRONG", noun.empty() ? std::to_string(wrong) : count_of(wrong, noun));
    }
    return text;
}

std::string too_few_for_interval(std::int64_t count, const std::string& noun) {
    return fmt::format("{} have a range only; an interval needs {}", count_of(count, noun),
                       RoundsInterval::least);
}

std::string precision_text(std::span<const double> values,
                           const std::function<std::string(double)>& text) {
    if (values.size() < 2) return {};
    if (const auto half = half_width_of(values)) return " ± " + text(*half);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return fmt::format(" ({} to {})", text(*low), text(*high));
}

std::optional<double> half_width_of(std::span<const double> values) {
    const auto interval = interval_of_rounds(values);
    return interval ? std::optional(interval->half_width) : std::nullopt;
}

std::string doubts_text(std::span<const NamedValues> means, const std::string& noun) {
    std::string lines;
    for (const auto& mean : means) {
        const auto interval = interval_of_rounds(mean.values);
        if (!interval) continue;
        for (const auto& doubt : doubts_of(*interval, noun)) {
            lines += fmt::format("  {}: {}\n", mean.text, doubt);
        }
    }
    return lines;
}

std::string interval_text(const Figure& figure) {
    if (!figure.samples || figure.samples->count < 2 || !(figure.metric.value > 0)) return {};
    if (!figure.samples->low95) {
        const auto away = [&](std::optional<double> end) {
            return end ? format_share(*end / figure.metric.value - 1) : "?";
        };
        return fmt::format("{} to {} (range of {})", away(figure.samples->min),
                           away(figure.samples->max), count_of(figure.samples->count, "round"));
    }
    const double half = (*figure.samples->high95 - *figure.samples->low95) / 2;
    return fmt::format("± {} (95 %, {})", format_share(half / figure.metric.value),
                       count_of(figure.samples->count, "round"));
}

void RoundFigures::add(Figure figure) {
    auto it = std::find_if(series_.begin(), series_.end(), [&](const FigureRounds& s) {
        return s.last.name == figure.name && s.last.where == figure.where;
    });
    if (it == series_.end()) it = series_.insert(it, FigureRounds{});
    if (figure.metric.reason.empty() && std::isfinite(figure.metric.value)) {
        it->values.push_back(figure.metric.value);
    } else {
        it->missing = figure.metric.reason;
    }
    it->last = std::move(figure);
}

std::vector<Figure> RoundFigures::figures() const {
    std::vector<Figure> all;
    for (const FigureRounds& series : series_) {
        Figure figure = series.last;
        if (!series.missing.empty()) {
            figure.metric =
                Metric::none(figure.metric.unit, series.missing, figure.metric.higher_is_better);
            figure.detail["interval"] = no_interval(series.missing);
        } else if (series.values.size() < 2) {
            figure.detail["interval"] =
                no_interval("measured once (--rounds or --until-ci measure it again)");
        } else {
            figure = mean_of(std::move(figure), series.values, "not measured", "round");
        }
        all.push_back(std::move(figure));
    }
    return all;
}

}  // namespace effio
