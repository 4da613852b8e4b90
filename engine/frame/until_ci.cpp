// SPDX-License-Identifier: BSD-3-Clause
#include "frame/until_ci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace effio {
namespace {

/// More figures than this are counted, not named, on the console.
constexpr std::size_t most_named = 8;

std::string rate_text(double rate, const std::string& unit) {
    // Latencies are reported to the nanosecond.
    if (unit == "s" && rate < 1e-3) return fmt::format("{:.3f} us", rate * 1e6);
    if (unit == "s") return format_duration(rate);
    return unit == "B/s" ? format_rate(rate) : fmt::format("{:.1f} {}", rate, unit);
}

std::string line_of(const UntilCi::Series& series) {
    const Samples samples = series.samples();
    const auto width = series.half_width();
    return fmt::format("{}: {} ± {} (of {})", series.subject.text,
                       rate_text(samples.mean(), series.subject.unit),
                       width ? format_share(*width) : "?", count_of(samples.count(), "value"));
}

std::string drift_of(const UntilCi::Series& series) {
    const auto [first, second] = series.halves();
    return fmt::format("{}: {} in the first half of the repetitions, {} in the second",
                       series.subject.text, rate_text(first.mean(), series.subject.unit),
                       rate_text(second.mean(), series.subject.unit));
}

std::string correlation_of(const UntilCi::Series& series) {
    const auto interval = series.interval();
    return fmt::format("{}: {} count as {:.1f} independent ones", series.subject.text,
                       count_of(interval->count, "value"), interval->worth);
}

std::string oddities_text(const UntilCi::Series& series) {
    const Oddities odd = oddities_of(series.values);
    const auto of = count_of(static_cast<std::int64_t>(series.values.size()), "value");
    if (odd.two_modes) return fmt::format("{}: {} in two modes", series.subject.text, of);
    return fmt::format("{}: {} of {} {}", series.subject.text, odd.outliers, of,
                       odd.outliers == 1 ? "is an outlier" : "are outliers");
}

std::string lines(const std::vector<const UntilCi::Series*>& some,
                  std::string (*text)(const UntilCi::Series&)) {
    std::string out;
    for (std::size_t i = 0; i < some.size() && i < most_named; ++i) {
        out += "  " + text(*some[i]) + "\n";
    }
    if (some.size() > most_named) out += fmt::format("  and {} more\n", some.size() - most_named);
    return out;
}

std::string_view name(UntilCi::Stop stop) {
    switch (stop) {
        case UntilCi::Stop::precise:
            return "precise";
        case UntilCi::Stop::time:
            return "time";
        case UntilCi::Stop::repetitions:
            return "repetitions";
        case UntilCi::Stop::nothing:
            return "nothing";
        case UntilCi::Stop::none:
            break;
    }
    return "ended";
}

}  // namespace

std::optional<double> UntilCi::Series::half_width() const {
    const auto found = sequential_interval(values);
    if (!found || found->mean == 0) return {};
    return found->half_width / std::abs(found->mean);
}

UntilCi::Series::Halves UntilCi::Series::halves() const {
    const std::size_t half = values.size() / 2;
    const std::span<const double> all(values);
    return {samples_of(all.first(half)), samples_of(all.last(half))};
}

double UntilCi::Series::chance() const {
    const auto [first, second] = halves();
    return chance_of_difference(first, second);
}

UntilCi::Series& UntilCi::series_of(const Subject& subject) {
    auto it = std::find_if(series_.begin(), series_.end(), [&](const Series& s) {
        return s.subject.figure == subject.figure && s.subject.where == subject.where;
    });
    if (it == series_.end()) it = series_.insert(it, Series{subject, {}});
    return *it;
}

void UntilCi::add(const Subject& subject, double rate) {
    if (options_.on()) series_of(subject).values.push_back(rate);
}

void UntilCi::set(const Subject& subject, std::vector<double> values) {
    if (options_.on()) series_of(subject).values = std::move(values);
}

bool UntilCi::is_wide(std::string_view figure) const {
    return std::none_of(series_.begin(), series_.end(),
                        [&](const Series& s) { return s.subject.figure == figure && narrow(s); });
}

bool UntilCi::wants(const Subject& subject) const {
    return std::none_of(series_.begin(), series_.end(), [&](const Series& s) {
        return s.subject.figure == subject.figure && s.subject.where == subject.where && narrow(s);
    });
}

std::vector<char> UntilCi::wanted(const Comm& comm, std::span<const Subject> figures) const {
    std::vector<char> all(figures.size(), 1);
    if (!options_.on() || done_ < UntilCiOptions::least) return all;
    std::transform(figures.begin(), figures.end(), all.begin(),
                   [this](const Subject& subject) { return wants(subject) ? 1 : 0; });
    comm.broadcast(std::span<char>(all));
    return all;
}

std::int64_t UntilCi::expected() const {
    if (!options_.on()) return most_;
    const auto least = std::max<std::int64_t>(done_ + 1, UntilCiOptions::least);
    double wanted = 0;
    for (const Series& series : series_) {
        const double width = width_of(series);
        if (!std::isfinite(width)) continue;
        const double times = width / options_.share->count;
        wanted = std::max(wanted, static_cast<double>(series.samples().count()) * times * times);
    }
    if (options_.limit_seconds() > 0 && seconds_ > 0) {
        // What begins within the limit is finished.
        wanted = std::min(
            wanted, std::ceil(options_.limit_seconds() * static_cast<double>(done_) / seconds_));
    }
    wanted = std::min(std::ceil(wanted), static_cast<double>(most_));
    return std::min(most_, std::max(least, static_cast<std::int64_t>(wanted)));
}

double UntilCi::width_of(const Series& series) {
    return series.half_width().value_or(std::numeric_limits<double>::infinity());
}

bool UntilCi::within(const Series& series) const {
    return series.samples().count() >= UntilCiOptions::least &&
           width_of(series) <= options_.share->count;
}

bool UntilCi::drifts(const Series& series) const {
    constexpr double by_chance = 0.05;
    // Without any drift, one figure of twenty would be reported; so all figures share this
    // probability (Bonferroni).
    return series.chance() * static_cast<double>(series_.size()) < by_chance;
}

bool UntilCi::narrow(const Series& series) const {
    if (!within(series) || drifts(series) || oddities_of(series.values).any()) return false;
    return sequential_interval(series.values)->worth >= RoundsInterval::least_worth;
}

UntilCi::Stop UntilCi::decide(std::int64_t done, double seconds) const {
    if (done >= UntilCiOptions::least) {
        if (series_.empty()) return Stop::nothing;
        const bool all = std::all_of(series_.begin(), series_.end(),
                                     [this](const Series& one) { return narrow(one); });
        if (all && seconds >= options_.least_seconds()) return Stop::precise;
    }
    if (done >= most_) return Stop::repetitions;
    if (options_.limit_seconds() > 0 && seconds >= options_.limit_seconds()) return Stop::time;
    return Stop::none;
}

bool UntilCi::another(const Comm& comm, double now) {
    if (!options_.on()) return true;
    ++done_;
    seconds_ = now - begin_;
    auto stop = static_cast<char>(decide(done_, seconds_));
    comm.broadcast(stop);
    stop_ = static_cast<Stop>(stop);
    return stop_ == Stop::none;
}

std::vector<const UntilCi::Series*> UntilCi::wide() const {
    std::vector<const Series*> some;
    for (const Series& series : series_) {
        if (!within(series)) some.push_back(&series);
    }
    // The widest first; equally wide ones in the order of the series.
    std::sort(some.begin(), some.end(), [](const Series* a, const Series* b) {
        return std::pair(-width_of(*a), a) < std::pair(-width_of(*b), b);
    });
    return some;
}

std::vector<const UntilCi::Series*> UntilCi::drifting() const {
    std::vector<const Series*> some;
    for (const Series& series : series_) {
        if (drifts(series)) some.push_back(&series);
    }
    return some;
}

std::vector<const UntilCi::Series*> UntilCi::odd() const {
    std::vector<const Series*> some;
    for (const Series& series : series_) {
        if (oddities_of(series.values).any()) some.push_back(&series);
    }
    return some;
}

std::vector<const UntilCi::Series*> UntilCi::correlated() const {
    std::vector<const Series*> some;
    for (const Series& series : series_) {
        const auto interval = series.interval();
        if (interval && interval->too_few()) some.push_back(&series);
    }
    return some;
}

std::string UntilCi::why() const {
    switch (stop_) {
        case Stop::time:
            return fmt::format("--until-ci-limit ({}) was over",
                               format_duration(options_.limit_seconds()));
        case Stop::repetitions:
            return fmt::format("there may be no more than {}", count_of(most_, "repetition"));
        case Stop::nothing:
            return "no rate was measured";
        default:
            return "the run ended";
    }
}

namespace {

/// One figure over the repetitions, as it is recorded.
struct Seen {
    const UntilCi::Series& series;
    bool within = false;  ///< as narrow as asked
    bool drifts = false;
    Samples samples = series.samples();
    std::optional<RoundsInterval> interval = series.interval();
    std::optional<SequentialInterval> sequence = sequential_interval(series.values);
    Oddities odd = oddities_of(series.values);
    Samples first = series.halves().first;
    Samples second = series.halves().second;

    Seen(const UntilCi::Series& of, bool is_within, bool is_drifting)
        : series(of), within(is_within), drifts(is_drifting) {}
    static std::optional<double> mean_of(const Samples& some) {
        return some.count() > 0 ? std::optional(some.mean()) : std::nullopt;
    }
};

const Fields<Seen>& seen_fields() {
    using S = Seen;
    static const Fields<S> fields{
        {"figure", Unit::word, "its name", [](const S& s) { return s.series.subject.figure; }},
        {"where", Unit::object, "its place", [](const S& s) { return s.series.subject.where; }},
        {"text", Unit::word, "its name for people",
         [](const S& s) { return s.series.subject.text; }},
        {"unit", Unit::word, "of its values", [](const S& s) { return s.series.subject.unit; }},
        {"count", Unit::count, "values", [](const S& s) { return s.samples.count(); }},
        {"mean", Unit::number, "of the values, in their unit",
         [](const S& s) { return s.samples.mean(); }},
        {"half_width", Unit::number, "of the sequential 95 % interval, in their unit",
         [](const S& s) {
             return s.sequence ? std::optional(s.sequence->half_width) : std::nullopt;
         }},
        {"half_width_share", Unit::number, "of the mean",
         [](const S& s) { return s.series.half_width(); }},
        {"correlation", Unit::number, "of neighboring values, at least 0",
         [](const S& s) {
             return s.interval ? std::optional(s.interval->correlation) : std::nullopt;
         }},
        {"worth", Unit::number, "independent values that these count as",
         [](const S& s) { return s.interval ? std::optional(s.interval->worth) : std::nullopt; }},
        {"within", Unit::flag, "the interval is as narrow as asked", &S::within},
        {"drift", Unit::flag, "the halves differ by more than chance", &S::drifts},
        {"outliers", Unit::count, "values far from the others",
         [](const S& s) { return s.odd.outliers; }},
        {"two_modes", Unit::flag, "the values form two groups",
         [](const S& s) { return s.odd.two_modes; }},
        {"first_half_mean", Unit::number, "of the first half, in their unit",
         [](const S& s) { return S::mean_of(s.first); }},
        {"second_half_mean", Unit::number, "of the second half, in their unit",
         [](const S& s) { return S::mean_of(s.second); }}};
    return fields;
}

/// What the figure `until_ci` is made from.
struct Precision {
    const UntilCi& run;
    const UntilCiOptions& options;
    std::vector<Seen> figures = {};
};

const Fields<Precision>& precision_fields() {
    using P = Precision;
    static const Fields<P> fields{
        {"asked_share", Unit::number, "requested half width over mean",
         [](const P& p) { return p.options.share->count; }},
        {"stopped_by", Unit::word, "reason to stop repeating",
         [](const P& p) { return name(p.run.stop()); }},
        {"repetitions", Unit::count, "done", [](const P& p) { return p.run.done(); }},
        {"most_repetitions", Unit::count, "that there may be",
         [](const P& p) { return p.run.most(); }},
        {"seconds", Unit::seconds, "of the repetitions",
         [](const P& p) { return p.run.seconds(); }},
        {"least_seconds", Unit::seconds, "--until-ci-least",
         [](const P& p) { return p.options.least_seconds(); }},
        {"limit_seconds", Unit::seconds, "--until-ci-limit",
         [](const P& p) { return p.options.limit_seconds(); }},
        {"figures", seen_fields(), "that the run is repeated for", &P::figures}};
    return fields;
}

}  // namespace

FigureInfo until_ci_info(FieldInfos where) {
    return {"until_ci", Unit::number, "widest half width over its mean, with --until-ci",
            if_known(std::move(where)), precision_fields().infos()};
}

Figure UntilCi::figure(std::string_view benchmark) const {
    const auto too_wide = wide();
    const auto moving = drifting();
    const auto related = correlated();
    const auto strange = odd();
    Figure f;
    f.benchmark = benchmark;
    f.name = "until_ci";
    double widest = series_.empty() ? std::numeric_limits<double>::infinity() : 0;
    for (const Series& series : series_) widest = std::max(widest, width_of(series));
    f.metric = std::isfinite(widest) ? Metric{widest, "1", false, {}}
                                     : Metric::none("1", "an interval needs two values", false);
    f.valid = stop_ == Stop::precise && moving.empty() && related.empty() && strange.empty();
    if (stop_ != Stop::precise) {
        f.reasons.push_back(fmt::format("{} before all intervals were reliably within {}", why(),
                                        format_share(options_.share->count)));
    }
    for (const Series* series : moving) {
        f.reasons.push_back("the interval may be unreliable, the rates drift: " +
                            drift_of(*series));
    }
    for (const Series* series : related) {
        f.reasons.push_back("the interval may be unreliable, the rates are autocorrelated: " +
                            correlation_of(*series));
    }
    for (const Series* series : strange) {
        f.reasons.push_back("the mean may be misleading: " + oddities_text(*series));
    }
    const auto is = [](const std::vector<const Series*>& some, const Series& series) {
        return std::find(some.begin(), some.end(), &series) != some.end();
    };
    std::vector<Seen> figures;
    for (const Series& series : series_) {
        figures.emplace_back(series, !is(too_wide, series), is(moving, series));
    }
    f.detail = precision_fields().json({*this, options_, std::move(figures)});
    return f;
}

std::string UntilCi::text() const {
    const auto too_wide = wide();
    const auto moving = drifting();
    const std::string asked = format_share(options_.share->count);
    std::string out;
    if (stop_ == Stop::precise) {
        const auto widest = std::max_element(
            series_.begin(), series_.end(),
            [](const Series& a, const Series& b) { return width_of(a) < width_of(b); });
        out =
            fmt::format("--until-ci {}: kept after {}; the widest 95 % interval is that of\n  {}\n",
                        asked, count_of(done_, "repetition"), line_of(*widest));
    } else {
        out = fmt::format("--until-ci {}: NOT KEPT after {}: {}{}\n", asked,
                          count_of(done_, "repetition"), why(),
                          too_wide.empty() ? "" : "; wider than asked:");
        out += lines(too_wide, line_of);
    }
    if (!moving.empty()) {
        out += "DRIFT, so that intervals may be unreliable:\n" + lines(moving, drift_of);
    }
    if (const auto strange = odd(); !strange.empty()) {
        out +=
            "OUTLIERS OR TWO MODES: the means may be misleading:\n" + lines(strange, oddities_text);
    }
    if (const auto related = correlated(); !related.empty()) {
        out += "NEIGHBOURS ARE AUTOCORRELATED, so that intervals may be unreliable:\n" +
               lines(related, correlation_of);
    }
    return out;
}

void UntilCi::report(Session& session, std::string_view benchmark, const Json& group) const {
    if (!options_.on() || !session.comm.is_root()) return;
    Figure f = figure(benchmark);
    f.where = group;
    session.results.recorder().figure(f);
    session.console.print("\n" + text());
}

}  // namespace effio
