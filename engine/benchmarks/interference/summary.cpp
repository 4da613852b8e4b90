// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/interference/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/rounds.hpp"
#include "core/stats.hpp"
#include "frame/round_figures.hpp"

namespace effio::interference {
namespace {

using Spans = std::vector<Span>;

/// Mean rate of each cell of a part that counts.
struct CellRate {
    Kind kind;
    Samples rate;
    bool higher_is_better = true;
};

std::map<std::string, CellRate> rates_of(const Part& part) {
    std::map<std::string, CellRate> cells;
    for (const auto& row : part.rows) {
        if (!row.counts) continue;
        CellRate& cell = cells[row.cell];
        cell.kind = row.kind;
        cell.higher_is_better = row.higher_is_better;
        cell.rate.add(row.rate);
    }
    return cells;
}

/// For each kind: the geometric mean over its cells of how much slower the second part is.
std::map<Kind, double> factors_of(const Part& alone, const Part& together) {
    const auto before = rates_of(alone);
    std::map<Kind, std::vector<double>> ratios;
    for (const auto& [name, cell] : rates_of(together)) {
        const auto same = before.find(name);
        if (same == before.end()) continue;
        const double a = same->second.rate.mean();
        const double b = cell.rate.mean();
        if (!(a > 0) || !(b > 0)) continue;
        ratios[cell.kind].push_back(cell.higher_is_better ? a / b : b / a);
    }
    std::map<Kind, double> factors;
    for (const auto& [kind, of] : ratios) factors[kind] = geometric_mean(of);
    return factors;
}

std::map<Kind, Spans> spans_of(const Part& part) {
    std::map<Kind, Spans> spans;
    for (const auto& row : part.rows) {
        if (row.when_known) spans[row.kind].emplace_back(row.begin, row.end);
    }
    return spans;
}

/// Spans of the first run alone.
std::map<Kind, Spans> counted_spans_of(const Part& part) {
    std::map<Kind, Spans> spans;
    for (const auto& row : part.rows) {
        if (row.when_known && row.counts) spans[row.kind].emplace_back(row.begin, row.end);
    }
    return spans;
}

/// Counts what was wrong with the measurements of a part, for each kind and (the empty kind) all.
void add_faults(const Part& part, std::map<Kind, SlowDown>& kinds) {
    for (const auto& row : part.rows) {
        if (!row.counts && !row.failed) continue;
        for (const Kind& kind : {Kind{}, row.kind}) {
            const auto found = kinds.find(kind);
            if (found == kinds.end()) continue;
            ++(row.counts ? found->second.valid : found->second.invalid);
            if (row.counts) found->second.wrong += row.errors;
        }
    }
}

double length_of(const Spans& spans) {
    double seconds = 0;
    for (const auto& [begin, end] : spans) seconds += end - begin;
    return seconds;
}

}  // namespace

std::string Kind::text() const {
    return pattern.empty() ? access : fmt::format("{} ({})", access, pattern);
}

Row row_of(const Json& line, bool first) {
    Row row;
    row.kind = {line.value("access", ""), line.value("pattern", "")};
    row.cell = json_line(Json::array({row.kind.access, row.kind.pattern, line["where"]}));
    const Json& rate = line["rate"];
    const bool known = rate["value"].is_number();
    const bool valid = line.value("valid", false);
    row.counts = first && known && valid;
    row.failed = first && !valid;
    row.errors = line.value("error_count", std::int64_t{0});
    row.rate = known ? rate["value"].get<double>() : 0;
    row.unit = rate.value("unit", "");
    row.higher_is_better = rate.value("better", "higher") == "higher";
    row.bytes = line.value("bytes", std::int64_t{0});
    row.operations = line.value("operations", std::int64_t{0});
    row.seconds = line["seconds"]["total"].value("max", 0.0);
    if (const auto span = line.find("span"); span != line.end()) {
        row.when_known = true;
        row.begin = span->value("begin_seconds", 0.0);
        row.end = span->value("end_seconds", 0.0);
    }
    return row;
}

Json to_json(const Row& r) {
    return Json::array({r.kind.access, r.kind.pattern, r.cell, r.counts, r.rate, r.unit,
                        r.higher_is_better, r.bytes, r.operations, r.seconds, r.when_known, r.begin,
                        r.end, r.errors, r.failed});
}

Row row_from(const Json& j) {
    return {{j[0], j[1]}, j[2], j[3],  j[4],  j[5],  j[6],  j[7],
            j[8],         j[9], j[10], j[11], j[12], j[13], j[14]};
}

std::string others(const Turn& turn, int group) {
    std::string text;
    for (const int g : turn) {
        if (g != group) text += fmt::format("{}{}", text.empty() ? "" : ",", g);
    }
    return text;
}

double overlap_seconds(const Spans& mine, const Spans& theirs) {
    double seconds = 0;
    for (const auto& [begin, end] : mine) {
        for (const auto& [other_begin, other_end] : theirs) {
            seconds += std::max(0.0, std::min(end, other_end) - std::max(begin, other_begin));
        }
    }
    return seconds;
}

std::vector<SlowDown> Summary::slow_downs() const {
    std::map<std::pair<std::int64_t, int>, const Part*> alone;  // by round and group
    for (const auto& done : turns_) {
        if (done.turn.size() != 1 || !done.parts.front().well) continue;
        alone[{done.round, done.turn.front()}] = &done.parts.front();
    }
    // The empty kind, which represents all, is the first one in the order.
    std::map<std::pair<int, std::string>, std::map<Kind, SlowDown>> found;
    for (const auto& done : turns_) {
        if (done.turn.size() < 2) continue;
        const bool well = std::all_of(done.parts.begin(), done.parts.end(),
                                      [](const Part& part) { return part.well; });
        for (const auto& part : done.parts) {
            auto& mine = found[{part.group, others(done.turn, part.group)}];
            mine[Kind{}];
            const auto before = alone.find({done.round, part.group});
            if (!well || before == alone.end()) continue;
            std::vector<double> each;
            for (const auto& [kind, factor] : factors_of(*before->second, part)) {
                mine[kind].factors.push_back(factor);
                each.push_back(factor);
            }
            if (!each.empty()) mine[Kind{}].factors.push_back(geometric_mean(each));
            add_faults(*before->second, mine);
            add_faults(part, mine);
        }
    }
    std::vector<SlowDown> all;
    for (auto& [who, kinds] : found) {
        for (auto& [kind, slow_down] : kinds) {
            slow_down.group = who.first;
            slow_down.others = who.second;
            slow_down.kind = kind;
            all.push_back(std::move(slow_down));
        }
    }
    return all;
}

std::vector<Met> Summary::met() const {
    using Key = std::tuple<int, Kind, int, Kind>;
    std::map<Key, double> seconds;
    std::map<std::tuple<int, Kind, int>, double> whole;
    for (const auto& done : turns_) {
        for (const auto& part : done.parts) {
            const auto mine = counted_spans_of(part);
            for (const auto& other : done.parts) {
                if (other.group == part.group) continue;
                const auto theirs = spans_of(other);
                for (const auto& [kind, spans] : mine) {
                    whole[{part.group, kind, other.group}] += length_of(spans);
                    for (const auto& [other_kind, other_spans] : theirs) {
                        seconds[{part.group, kind, other.group, other_kind}] +=
                            overlap_seconds(spans, other_spans);
                    }
                }
            }
        }
    }
    std::vector<Met> all;
    for (const auto& [key, overlap] : seconds) {
        if (overlap <= 0) continue;
        const auto& [group, kind, other, other_kind] = key;
        all.push_back(
            {group, kind, other, other_kind, overlap, overlap / whole[{group, kind, other}]});
    }
    return all;
}

const Fields<SlowDownOf>& slow_down_place_fields() {
    using S = SlowDownOf;
    using F = Field<S>;
    const auto of_phase = [](const S& s) { return s.of.kind != Kind{}; };
    static const Fields<S> fields{
        {"group", Unit::count, "number of the group, from 1",
         [](const S& s) { return s.of.group; }},
        {"benchmark", Unit::word, "of the group",
         [](const S& s) { return s.benchmarks[static_cast<std::size_t>(s.of.group) - 1]; }},
        {"others", Unit::word, "numbers of the other groups",
         [](const S& s) { return s.of.others; }},
        F("access", Unit::word, "of the kind",
          [](const S& s) {
              return s.of.kind.access;
          }).only_if(of_phase),
        F("pattern", Unit::word, "of the kind", [](const S& s) {
            return s.of.kind.pattern;
        }).only_if(of_phase)};
    return fields;
}

const Fields<SlowDown>& slow_down_fields() {
    static const Fields<SlowDown> fields{
        {"rounds", Unit::number, "the factor of each round", &SlowDown::factors}};
    return fields;
}

Figure figure_of(const SlowDown& slow_down, const std::vector<std::string>& benchmarks) {
    const bool over_all = slow_down.kind == Kind{};
    Figure f;
    f.benchmark = "interference";
    f.name = over_all ? "slow_down" : "slow_down_of_phase";
    f.where = slow_down_place_fields().json({slow_down, benchmarks});
    std::vector<double> values;
    for (const double factor : slow_down.factors) values.push_back(std::log(factor));
    const Samples logarithms = samples_of(values);
    f.metric = Metric::none("1", "no round has it both alone and together with the others", false);
    f.detail = slow_down_fields().json(slow_down);
    if (logarithms.count() == 0) {
        f.detail["interval"] = no_interval(f.metric.reason);
        return f;
    }
    f.metric = {std::exp(logarithms.mean()), "1", false, {}};
    SampleSummary& samples = f.samples.emplace();
    samples.count = logarithms.count();
    samples.min = std::exp(logarithms.min());
    samples.max = std::exp(logarithms.max());
    if (const auto interval = interval_of_rounds(values)) {
        // Doubts are of the factors, which people see.
        set_interval(f, *interval_of_rounds(slow_down.factors), "geometric mean of rounds");
        f.detail["interval"]["mean_without_first"] = std::exp(interval->mean_without_first);
        samples.low95 = std::exp(interval->mean - interval->half_width);
        samples.high95 = std::exp(interval->mean + interval->half_width);
    } else {
        f.detail["interval"] =
            no_interval(logarithms.count() < 2 ? "measured in one round (--rounds measures it "
                                                 "again)"
                                               : too_few_for_interval(logarithms.count(), "round"));
    }
    return f;
}

}  // namespace effio::interference
