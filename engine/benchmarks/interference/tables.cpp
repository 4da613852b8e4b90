// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/interference/tables.hpp"
#include "frame/round_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/stats.hpp"
#include "core/table.hpp"
#include "core/units.hpp"

namespace effio::interference {
namespace {

/// "2.00"; the end of a very wide interval as "4.2e+04".
std::string times_text(double factor) {
    return factor < 1000 ? fmt::format("{:.2f}", factor) : fmt::format("{:.2g}", factor);
}

/// "2.00 [1.95, 2.05]"
std::string factor_alone(const Figure& f) {
    if (!f.metric.reason.empty()) return "-";
    if (!f.samples || f.samples->count < 2) return times_text(f.metric.value);
    if (!f.samples->low95) {
        return fmt::format("{} ({} to {})", times_text(f.metric.value),
                           times_text(f.samples->min.value_or(0)),
                           times_text(f.samples->max.value_or(0)));
    }
    return fmt::format("{} [{}, {}]", times_text(f.metric.value), times_text(*f.samples->low95),
                       times_text(*f.samples->high95));
}

bool has_faults(const SlowDown& s) {
    return s.invalid > 0 || s.wrong > 0;
}

/// "2.00 [1.95, 2.05]", with what was wrong with its measurements.
std::string factor_text(const SlowDown& s, const std::vector<std::string>& benchmarks) {
    std::string text = factor_alone(figure_of(s, benchmarks));
    if (!has_faults(s)) return text;
    return fmt::format("{}; of {}", text, counted_text(s.valid, s.invalid, s.wrong));
}

/// Explains these marks; empty if no row has one.
std::string legend_of(const std::vector<SlowDown>& all) {
    if (std::none_of(all.begin(), all.end(), has_faults)) return {};
    return "  of N + N INVALID, N WRONG: measurements alone and together, and wrong pieces of "
           "their data\n";
}

/// The groups of "2,3" by name.
std::string names_of(const std::string& others, const std::vector<std::string>& benchmarks) {
    std::string text;
    for (std::size_t g = 1; g <= benchmarks.size(); ++g) {
        if (("," + others + ",").find(fmt::format(",{},", g)) == std::string::npos) continue;
        text += fmt::format("{}{}", text.empty() ? "" : ", ",
                            group_name(static_cast<int>(g), benchmarks));
    }
    return text;
}

/// Measurements of one kind that a group made in a turn.
struct OfPart {
    const TurnDone& done;
    const Part& part;
    const std::string& benchmark;
    int turn = 0;
    std::int64_t count = 0;
    double until = 0;  ///< when its last run ended, at most the end of the others
};

const Fields<OfPart>& part_place_fields() {
    using P = OfPart;
    static const Fields<P> fields{
        {"group", Unit::count, "number of the group, from 1",
         [](const P& p) { return p.part.group; }},
        {"benchmark", Unit::word, "of the group", [](const P& p) { return p.benchmark; }},
        {"others", Unit::word, "numbers of the other groups; empty: alone",
         [](const P& p) { return others(p.done.turn, p.part.group); }},
        {"turn", Unit::count, "number of the turn, from 1", &P::turn}};
    return fields;
}

const Fields<OfPart>& part_fields() {
    using P = OfPart;
    static const Fields<P> fields{
        {"measurements", Unit::count, "that the rate is the mean of", &P::count},
        {"run_seconds", Unit::seconds, "of the group's first run",
         [](const P& p) { return p.part.seconds; }},
        {"runs", Unit::count, "in this turn", [](const P& p) { return p.part.runs; }},
        Field<P>("covered_fraction", Unit::number, "of its time, in which the others worked",
                 [](const P& p) { return std::min(1.0, p.until / p.part.seconds); })
            .only_if([](const P& p) { return p.done.turn.size() > 1 && p.part.seconds > 0; })};
    return fields;
}

/// Two kinds that met, with the benchmarks of all groups.
struct MetBy {
    const Met& met;
    const std::vector<std::string>& benchmarks;

    const std::string& of(int group) const {
        return benchmarks[static_cast<std::size_t>(group) - 1];
    }
};

const Fields<MetBy>& met_place_fields() {
    using M = MetBy;
    static const Fields<M> fields{
        {"group", Unit::count, "number of the group, from 1",
         [](const M& m) { return m.met.group; }},
        {"benchmark", Unit::word, "of the group", [](const M& m) { return m.of(m.met.group); }},
        {"access", Unit::word, "of the group", [](const M& m) { return m.met.kind.access; }},
        {"pattern", Unit::word, "of the group", [](const M& m) { return m.met.kind.pattern; }},
        {"other", Unit::word, "number of the other group",
         [](const M& m) { return std::to_string(m.met.other); }},
        {"other_benchmark", Unit::word, "of the other group",
         [](const M& m) { return m.of(m.met.other); }},
        {"other_access", Unit::word, "of the other group",
         [](const M& m) { return m.met.other_kind.access; }},
        {"other_pattern", Unit::word, "of the other group",
         [](const M& m) { return m.met.other_kind.pattern; }}};
    return fields;
}

const Fields<Met>& met_fields() {
    static const Fields<Met> fields{
        {"fraction", Unit::number, "of all seconds with that group", &Met::fraction}};
    return fields;
}

const Fields<GroupOfRun>& group_fields() {
    using G = GroupOfRun;
    static const Fields<G> fields{
        {"number", Unit::count, "from 1", &G::number},
        {"benchmark", Unit::word, "that it runs", &G::benchmark},
        {"ranks", Unit::count, "of the group", &G::ranks},
        {"first_rank", Unit::count, "of the job, from 0", &G::first_rank},
        Field<G>("command", Unit::word, "arguments of the group", &G::command).list()};
    return fields;
}

const Fields<SetUp>& set_up_fields() {
    using S = SetUp;
    static const Fields<S> fields{
        {"groups", group_fields(), "of the job", &S::groups},
        Field<S>("turns", Unit::count, "numbers of the groups that run together", &S::turns).rows(),
        {"rounds", Unit::count, "of all turns", &S::rounds},
        {"place", Unit::word, "directory of the results of each turn", &S::place}};
    return fields;
}

}  // namespace

std::string group_name(int group, const std::vector<std::string>& benchmarks) {
    return fmt::format("{} {}", group, benchmarks[static_cast<std::size_t>(group) - 1]);
}

std::string title_of(const Turn& turn, const std::vector<std::string>& benchmarks) {
    std::string text = group_name(turn.front(), benchmarks);
    if (turn.size() == 1) return text + " alone";
    for (std::size_t i = 1; i < turn.size(); ++i) {
        text += (i == 1 ? " next to " : ", ") + group_name(turn[i], benchmarks);
    }
    return text;
}

std::string heading(const std::vector<std::string>& benchmarks, const std::vector<int>& ranks,
                    const std::vector<Turn>& turns, std::int64_t rounds) {
    std::string text = fmt::format("Interference of {} groups: {} of {}\n\n", benchmarks.size(),
                                   count_of(rounds, "round"),
                                   count_of(static_cast<std::int64_t>(turns.size()), "turn"));
    for (std::size_t i = 0; i < benchmarks.size(); ++i) {
        text += fmt::format("  group {}: {}\n", group_name(static_cast<int>(i) + 1, benchmarks),
                            count_of(ranks[i], "rank"));
    }
    text += '\n';
    for (const auto& turn : turns) text += "  " + title_of(turn, benchmarks) + "\n";
    return text + "\n";
}

std::string line_of(const TurnDone& done, const std::vector<std::string>& benchmarks) {
    std::string text =
        fmt::format("round {}, {}:", done.round + 1, title_of(done.turn, benchmarks));
    for (const auto& part : done.parts) {
        text += fmt::format("{} {}{}", &part == &done.parts.front() ? "" : ",",
                            format_duration(part.seconds), part.well ? "" : " (not done)");
        if (part.runs > 1) {
            text += fmt::format(" and {} further {} until {}", part.runs - 1,
                                part.runs == 2 ? "run" : "runs", format_duration(part.covered));
        }
    }
    return text + "\n";
}

std::vector<Measurement> measurements_of(const TurnDone& done, const Part& part, int number,
                                         const std::vector<std::string>& benchmarks,
                                         const std::vector<int>& ranks, int nodes) {
    double until = 0;
    bool well = true;
    for (const auto& other : done.parts) {
        well = well && other.well;
        if (other.group == part.group) continue;
        until = until > 0 ? std::min(until, other.covered) : other.covered;
    }
    std::map<Kind, std::pair<Measurement, Samples>> kinds;
    for (const auto& row : part.rows) {
        if (!row.counts) continue;
        auto& [m, rates] = kinds[row.kind];
        m.access = row.kind.access;
        m.pattern = row.kind.pattern;
        m.bytes += row.bytes;
        m.operations += row.operations;
        const double before = longest(m.seconds, "total");
        const double total = before + row.seconds;
        m.seconds = {{"total", {total, total, total}}};
        rates.add(row.rate);
        m.rate = {rates.mean(), row.unit, row.higher_is_better, {}};
    }
    std::vector<Measurement> all;
    const auto group = static_cast<std::size_t>(part.group) - 1;
    for (auto& [kind, row] : kinds) {
        Measurement& m = row.first;
        m.benchmark = "interference";
        const OfPart of{done, part, benchmarks[group], number, row.second.count(), until};
        m.where = part_place_fields().json(of);
        m.ranks = ranks[group];
        m.nodes = nodes;
        m.repetition = done.round;
        m.stopped_by = "count";
        m.scattered = true;
        if (!well) {
            m.valid = false;
            m.invalid_reason = "a group of this turn did not end as it should";
            m.rate =
                Metric::none(m.rate.unit, "INVALID: " + m.invalid_reason, m.rate.higher_is_better);
        }
        m.detail = part_fields().json(of);
        all.push_back(std::move(m));
    }
    return all;
}

Figure figure_of(const Met& met, const std::vector<std::string>& benchmarks) {
    Figure f;
    f.benchmark = "interference";
    f.name = "met";
    f.where = met_place_fields().json({met, benchmarks});
    f.metric = {met.seconds, "s", true, {}};
    f.detail = met_fields().json(met);
    return f;
}

Json describe(const SetUp& set_up) {
    return set_up_fields().json(set_up);
}

ResultInfo result_info() {
    FieldInfos of_group = slow_down_place_fields().infos();
    FieldInfos detail = slow_down_fields().infos();
    detail.push_back(interval_field());
    return {part_place_fields().infos(),
            part_fields().infos(),
            {{"slow_down", Unit::number, "time with others over time alone", of_group, detail},
             {"slow_down_of_phase", Unit::number, "the same of one kind of measurement", of_group,
              detail},
             {"met", Unit::seconds, "in which two kinds ran at the same time",
              met_place_fields().infos(), met_fields().infos()}},
            {object_of("interference", "groups and turns of the run", set_up_fields().infos())}};
}

std::string matrix(const std::vector<SlowDown>& all, const std::vector<std::string>& benchmarks) {
    std::set<std::string> columns;
    for (const auto& s : all) {
        if (s.kind == Kind{}) columns.insert(s.others);
    }
    if (columns.empty()) return {};
    std::vector<Table::Column> heads{{"group", Table::Align::left}};
    for (const auto& others : columns) {
        heads.push_back({"next to " + names_of(others, benchmarks), Table::Align::right});
    }
    Table table(heads);
    for (std::size_t g = 1; g <= benchmarks.size(); ++g) {
        const int group = static_cast<int>(g);
        std::vector<std::string> cells{group_name(group, benchmarks)};
        for (const auto& others : columns) {
            const auto of = std::find_if(all.begin(), all.end(), [&](const SlowDown& s) {
                return s.kind == Kind{} && s.group == group && s.others == others;
            });
            cells.push_back(of == all.end() ? "" : factor_text(*of, benchmarks));
        }
        table.row(std::move(cells));
    }
    return "\nTimes slower than alone, over all phases [95 % interval over rounds], or (range) of "
           "fewer than 5:\n\n" +
           table.text(2) + legend_of(all);
}

std::string phases_table(const std::vector<SlowDown>& all,
                         const std::vector<std::string>& benchmarks) {
    Table table({{"group", Table::Align::left},
                 {"phase", Table::Align::left},
                 {"next to", Table::Align::left},
                 {"times slower", Table::Align::right}});
    bool any = false;
    for (const auto& s : all) {
        if (s.kind == Kind{}) continue;
        any = true;
        table.row(
            {group_name(s.group, benchmarks), s.kind.text(), s.others, factor_text(s, benchmarks)});
    }
    return any ? "\nBy phase:\n\n" + table.text(2) : "";
}

std::string met_table(const std::vector<Met>& met, const std::vector<std::string>& benchmarks) {
    if (met.empty()) return {};
    Table table({{"group", Table::Align::left},
                 {"phase", Table::Align::left},
                 {"met", Table::Align::left},
                 {"in its phase", Table::Align::left},
                 {"overlap [s]", Table::Align::right},
                 {"of the phase [%]", Table::Align::right}});
    for (const auto& m : met) {
        table.row({group_name(m.group, benchmarks), m.kind.text(), group_name(m.other, benchmarks),
                   m.other_kind.text(), fmt::format("{:.3f}", m.seconds),
                   fmt::format("{:.1f}", 100 * m.fraction)});
    }
    return "\nWhich phase met which, in all rounds:\n\n" + table.text(2);
}

}  // namespace effio::interference
