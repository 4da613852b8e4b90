// SPDX-License-Identifier: BSD-3-Clause
// Slow-downs and overlaps, from handwritten numbers (docs/definitions/interference.md).
#include "benchmarks/interference/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "benchmarks/interference/tables.hpp"

namespace effio::interference {
namespace {

Kind write() {
    return {"write", "shared"};
}
Kind create() {
    return {"create", "file"};
}
std::vector<std::string> names() {
    return {"ior", "mdtest"};
}

Row row(const Kind& kind, double rate, double begin = 0, double end = 0) {
    Row r;
    r.kind = kind;
    r.cell = kind.text();
    r.counts = true;
    r.rate = rate;
    r.unit = "B/s";
    r.when_known = end > 0;
    r.begin = begin;
    r.end = end;
    r.seconds = end - begin;
    return r;
}

Part part(int group, std::vector<Row> rows) {
    Part p;
    p.group = group;
    p.well = true;
    p.rows = std::move(rows);
    return p;
}

const SlowDown& of(const std::vector<SlowDown>& all, int group, const Kind& kind) {
    return *std::find_if(all.begin(), all.end(),
                         [&](const SlowDown& s) { return s.group == group && s.kind == kind; });
}

TEST(InterferenceTurns, each_alone_then_pairs_or_all) {
    EXPECT_EQ(turns_of(2, Combinations::pairs), (std::vector<Turn>{{1}, {2}, {1, 2}}));
    EXPECT_EQ(turns_of(3, Combinations::pairs),
              (std::vector<Turn>{{1}, {2}, {3}, {1, 2}, {1, 3}, {2, 3}}));
    EXPECT_EQ(turns_of(3, Combinations::all), (std::vector<Turn>{{1}, {2}, {3}, {1, 2, 3}}));
}

TEST(InterferenceTurns, over_six_rounds_each_of_three_turns_stands_twice_at_each_place) {
    const auto turns = turns_of(2, Combinations::pairs);
    std::map<std::pair<std::size_t, Turn>, int> seen;
    for (int round = 0; round < 6; ++round) {
        const auto order = turns_of_round(turns, round);
        ASSERT_EQ(order.size(), 3U);
        for (std::size_t i = 0; i < 3; ++i) ++seen[{i, order[i]}];
    }
    EXPECT_EQ(seen.size(), 9U);
    for (const auto& [place, times] : seen) EXPECT_EQ(times, 2);
}

TEST(InterferenceTurns, a_turn_says_who_else_is_in_it) {
    EXPECT_EQ(others({1}, 1), "");
    EXPECT_EQ(others({1, 3, 4}, 3), "1,4");
    EXPECT_EQ(title_of({2}, names()), "2 mdtest alone");
    EXPECT_EQ(title_of({1, 2}, names()), "1 ior next to 2 mdtest");
}

/// Rounds of 100/50 = 2 and 100/12.5 = 8: exp of the mean of log 2 and log 8 is 4.
TEST(InterferenceSummary, a_slow_down_is_the_geometric_mean_over_the_rounds) {
    Summary summary;
    for (const auto& [round, together] : {std::pair{0, 50.0}, {1, 12.5}}) {
        summary.add({round, {1}, {part(1, {row(write(), 100)})}});
        summary.add(
            {round, {1, 2}, {part(1, {row(write(), together)}), part(2, {row(create(), 7)})}});
    }
    const auto all = summary.slow_downs();
    const auto figure = figure_of(of(all, 1, write()), names());
    EXPECT_EQ(figure.name, "slow_down_of_phase");
    EXPECT_EQ(figure.where["benchmark"], "ior");
    EXPECT_EQ(figure.where["others"], "2");
    EXPECT_NEAR(figure.metric.value, 4, 1e-12);
    EXPECT_FALSE(figure.metric.higher_is_better);
    ASSERT_TRUE(figure.samples);
    EXPECT_NEAR(*figure.samples->min, 2, 1e-12);
    EXPECT_NEAR(*figure.samples->max, 8, 1e-12);
    EXPECT_FALSE(figure.samples->low95);
    EXPECT_EQ(figure.detail["interval"]["none"], "2 rounds have a range only; an interval needs 5");
    // The second group was never alone.
    const auto unknown = figure_of(of(all, 2, Kind{}), names());
    EXPECT_EQ(unknown.name, "slow_down");
    EXPECT_FALSE(unknown.metric.reason.empty());
}

/// A slow-down of wrong data or next to failed measurements says so in its own cell.
TEST(InterferenceTables, a_cell_says_what_was_wrong_with_its_measurements) {
    Summary summary;
    Row wrong = row(write(), 50);
    wrong.errors = 3;
    Row failed = row(write(), 0);
    failed.counts = false;
    failed.failed = true;
    summary.add({0, {1}, {part(1, {row(write(), 100), row(create(), 8)})}});
    summary.add({0, {2}, {part(2, {row(create(), 7)})}});
    summary.add(
        {0, {1, 2}, {part(1, {wrong, failed, row(create(), 8)}), part(2, {row(create(), 7)})}});
    const auto all = summary.slow_downs();
    const auto line_of = [](const std::string& text, const std::string& part) {
        const auto at = text.find(part);
        return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
    };
    const std::string phases = phases_table(all, names());
    EXPECT_TRUE(
        line_of(phases, "1 ior     write (shared)").ends_with("2.00; of 2 + 1 INVALID, 3 WRONG"))
        << phases;
    EXPECT_TRUE(line_of(phases, "1 ior     create (file)").ends_with(" 1.00")) << phases;
    const std::string whole = matrix(all, names());
    EXPECT_NE(whole.find("1.41; of 4 + 1 INVALID, 3 WRONG"), std::string::npos) << whole;
    EXPECT_TRUE(line_of(whole, "2 mdtest ").ends_with(" 1.00")) << whole;
    EXPECT_NE(whole.find("measurements alone and together"), std::string::npos);
    // Nothing is said where nothing was wrong.
    Summary fine;
    fine.add({0, {1}, {part(1, {row(write(), 100)})}});
    fine.add({0, {1, 2}, {part(1, {row(write(), 50)}), part(2, {})}});
    EXPECT_EQ(matrix(fine.slow_downs(), names()).find("; of "), std::string::npos);
}

/// Twice as slow in one phase, eight times in another: four times over all, and no interval.
TEST(InterferenceSummary, over_all_every_phase_weighs_as_much) {
    Summary summary;
    Row slow = row(create(), 8);
    Row faster = row(create(), 8);
    faster.cell = "another size";
    summary.add({0, {1}, {part(1, {row(write(), 100), slow, faster})}});
    slow.rate = 1;
    faster.rate = 1;
    summary.add({0, {1, 2}, {part(1, {row(write(), 50), slow, faster}), part(2, {})}});
    const auto all = summary.slow_downs();
    const auto figure = figure_of(of(all, 1, Kind{}), names());
    EXPECT_NEAR(figure.metric.value, 4, 1e-12);
    EXPECT_FALSE(figure.samples->low95);
    EXPECT_TRUE(figure.detail["interval"]["method"].is_null());
}

TEST(InterferenceSummary, less_is_better_for_times) {
    Summary summary;
    Row alone = row(write(), 2);
    alone.higher_is_better = false;
    Row together = alone;
    together.rate = 6;
    summary.add({0, {1}, {part(1, {alone})}});
    summary.add({0, {1, 2}, {part(1, {together}), part(2, {})}});
    EXPECT_NEAR(summary.slow_downs().front().factors.at(0), 3, 1e-12);
}

TEST(InterferenceSummary, a_turn_that_failed_and_runs_that_do_not_count_say_nothing) {
    Summary summary;
    summary.add({0, {1}, {part(1, {row(write(), 100)})}});
    Part failed = part(2, {});
    failed.well = false;
    summary.add({0, {1, 2}, {part(1, {row(write(), 50)}), failed}});
    Row further = row(write(), 10);
    further.counts = false;
    summary.add({1, {1}, {part(1, {row(write(), 100), further})}});
    summary.add({1, {1, 2}, {part(1, {row(write(), 25), further}), part(2, {})}});
    EXPECT_EQ(of(summary.slow_downs(), 1, write()).factors, std::vector<double>{4});
}

/// [0, 4] and [1, 3], [3, 9]: 2 and 1 of 4 seconds.
TEST(InterferenceSummary, phases_that_meet_overlap_in_time) {
    Summary summary;
    Row further = row(create(), 5, 3, 9);
    further.counts = false;  // it covers, and is met
    summary.add({0,
                 {1, 2},
                 {part(1, {row(write(), 5, 0, 4)}), part(2, {row(create(), 5, 1, 3), further})}});
    const auto met = summary.met();
    ASSERT_EQ(met.size(), 2U);
    EXPECT_EQ(met[0].group, 1);
    EXPECT_EQ(met[0].other_kind, create());
    EXPECT_DOUBLE_EQ(met[0].seconds, 3);
    EXPECT_DOUBLE_EQ(met[0].fraction, 0.75);
    EXPECT_EQ(met[1].group, 2);
    EXPECT_DOUBLE_EQ(met[1].seconds, 2);
    EXPECT_DOUBLE_EQ(met[1].fraction, 1);
}

TEST(InterferenceSummary, rows_come_back_as_they_were_sent) {
    const Json line = parse_json(
        R"({"access":"write","pattern":"shared","where":{"size_bytes":4},"valid":true,"bytes":8,
            "operations":2,"rate":{"value":3.5,"unit":"B/s","better":"higher"},
            "seconds":{"total":{"min":1,"mean":1,"max":2}},
            "span":{"begin_seconds":1,"end_seconds":3}})");
    const Row r = row_from(to_json(row_of(line, true)));
    EXPECT_EQ(r.kind, write());
    EXPECT_TRUE(r.counts);
    EXPECT_EQ(r.rate, 3.5);
    EXPECT_EQ(r.bytes, 8);
    EXPECT_EQ(r.operations, 2);
    EXPECT_EQ(r.seconds, 2);
    EXPECT_TRUE(r.when_known);
    EXPECT_EQ(r.begin, 1);
    EXPECT_EQ(r.end, 3);
    EXPECT_FALSE(row_of(line, false).counts);
    Json invalid = line;
    invalid["valid"] = false;
    invalid["rate"]["value"] = nullptr;
    EXPECT_FALSE(row_of(invalid, true).counts);
}

TEST(InterferenceRecords, a_measurement_sums_up_a_phase_of_the_first_run) {
    Part mine = part(1, {row(write(), 10, 0, 2), row(write(), 30, 2, 4)});
    mine.seconds = 4;
    mine.runs = 1;
    Part other = part(2, {row(create(), 1, 0, 1)});
    other.covered = 3;
    const TurnDone done{2, {1, 2}, {mine, other}};
    const auto all = measurements_of(done, mine, 9, names(), {4, 2}, 3);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].where,
              (Json{{"group", 1}, {"benchmark", "ior"}, {"others", "2"}, {"turn", 9}}));
    EXPECT_EQ(all[0].ranks, 4);
    EXPECT_EQ(all[0].repetition, 2);
    EXPECT_EQ(all[0].rate.value, 20);
    EXPECT_EQ(longest(all[0].seconds, "total"), 4);
    EXPECT_EQ(all[0].detail["covered_fraction"], 0.75);
    TurnDone failed = done;
    failed.parts[1].well = false;
    EXPECT_FALSE(measurements_of(failed, mine, 9, names(), {4, 2}, 3)[0].valid);
}

}  // namespace
}  // namespace effio::interference
