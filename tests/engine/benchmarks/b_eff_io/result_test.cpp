// SPDX-License-Identifier: BSD-3-Clause
// From the numbers of the partitions to the one number of a run and its validity
// (docs/definitions/b-eff-io.md, Averages).
#include "benchmarks/b_eff_io/result.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace effio::b_eff_io {
namespace {

/// A complete partition with rows and types of `rate` B/s each: its b_eff_io is `rate`.
PartitionResult partition(std::int64_t ranks, double rate) {
    PartitionResult p;
    p.ranks = ranks;
    for (const Access access : all_accesses) {
        for (const Row& row : row_table(lmax_bytes(256))) {
            RowResult r;
            r.row = row;
            r.access = access;
            r.bytes = static_cast<std::int64_t>(rate);
            r.times.total = 1;
            r.span.seconds = 1;
            p.rows[index(access)][static_cast<std::size_t>(row.number)] = r;
        }
        for (const Type type : all_types) {
            TypeResult t;
            t.bytes = static_cast<std::int64_t>(rate);
            t.seconds = 1;
            p.types[index(access)][index(type)] = t;
        }
        AccessResult a;
        a.bytes = 100;
        a.seconds = 10;
        p.accesses[index(access)] = a;
    }
    return p;
}

TEST(RowResult, what_a_dropped_file_had_in_memory_was_read_ahead) {
    RowResult r;
    r.access = Access::read;
    EXPECT_FALSE(r.read_ahead());
    r.cache.emplace().verdict = Whereabouts::cache;
    EXPECT_FALSE(r.read_ahead()) << "it may be what was written";
    r.cache->methods = {"memory hog", "dropped"};
    EXPECT_TRUE(r.read_ahead());
    r.cache->verdict = Whereabouts::mixed;
    EXPECT_TRUE(r.read_ahead());
    r.cache->verdict = Whereabouts::device;
    EXPECT_FALSE(r.read_ahead());
    r.cache->verdict = Whereabouts::cache;
    r.access = Access::write;
    EXPECT_FALSE(r.read_ahead());
}

TEST(RowSpan, rank_0s_clock_counts_unless_the_ranks_took_longer) {
    EXPECT_DOUBLE_EQ(row_span(1, 1.04).seconds, 1);
    EXPECT_FALSE(row_span(1, 1.04).by_common_clock);
    EXPECT_DOUBLE_EQ(row_span(1, 1.06).seconds, 1.06);
    EXPECT_TRUE(row_span(1, 1.06).by_common_clock);
    // Observed in a run: rank 0 left the barrier when the others were already done.
    EXPECT_DOUBLE_EQ(row_span(0.001, 0.567).seconds, 0.567);
    // Clocks may differ by this much.
    EXPECT_DOUBLE_EQ(row_span(1e-5, 1e-4).seconds, 1e-5);
    EXPECT_FALSE(row_span(1e-5, 1e-4).by_common_clock);
}

TEST(RowSpan, a_row_by_the_common_clock_makes_the_run_not_comparable) {
    PartitionResult p = partition(4, 100);
    auto& row = *p.rows[index(Access::read)][3];
    row.span = {2, true};
    EXPECT_DOUBLE_EQ(row.rate(), 50);
    EXPECT_EQ(p.rows_by_common_clock(), 1);
    RowResult both = row;
    both.join(*p.rows[index(Access::read)][4]);
    EXPECT_DOUBLE_EQ(both.span.seconds, 3);
    EXPECT_TRUE(both.span.by_common_clock);
    RunResult run;
    run.partitions = {p};
    const auto list = run.criteria(0);
    const auto criterion = std::find_if(list.begin(), list.end(), [](const Criterion& c) {
        return c.text.starts_with("all ranks run at the same time");
    });
    ASSERT_NE(criterion, list.end());
    EXPECT_FALSE(criterion->reached);
    EXPECT_FALSE(run.valid(0));
}

/// Half an hour for a single partition through MPI-IO with shared pointers: VALID.
struct Made {
    std::int64_t ranks = 0;
    double rate = 0;
};

/// Made one after the other: some of them at a time are more than a stack holds.
RunResult official(const std::vector<Made>& partitions) {
    RunResult run;
    run.setup.budget =
        time_budget(1800.0 * static_cast<double>(partitions.size()), partitions.size(), false);
    for (const auto& made : partitions) {
        run.partitions.push_back(partition(made.ranks, made.rate));
    }
    return run;
}

/// The criteria that are not reached.
std::vector<std::string> missed(const RunResult& run, std::size_t i = 0) {
    std::vector<std::string> out;
    for (const auto& c : run.criteria(i)) {
        if (!c.reached) out.push_back(c.text);
    }
    return out;
}

TEST(Result, the_best_partition_is_the_largest_value_and_the_first_of_equal_ones) {
    EXPECT_EQ(official({{1, 10}, {2, 30}, {4, 20}}).best(), 1U);
    EXPECT_EQ(official({{1, 10}, {2, 30}, {4, 30}}).best(), 1U);
    EXPECT_EQ(official({{4, 50}, {2, 30}}).best(), 0U);
}

TEST(Result, partitions_that_are_incomplete_or_have_failed_calls_are_not_the_best) {
    auto run = official({{1, 10}, {2, 30}, {4, 20}});
    run.partitions[1].accesses[index(Access::read)].reset();
    EXPECT_EQ(run.best(), 2U);
    run.partitions[2].rows[0][5]->valid = false;
    EXPECT_EQ(run.best(), 0U);
    run.partitions[0].accesses[index(Access::write)].reset();
    EXPECT_FALSE(run.best());
}

TEST(Result, the_scatter_rewrite_counts_in_the_write_average_and_other_rewrites_do_not) {
    auto p = partition(2, 60);
    for (auto& t : p.types[index(Access::rewrite)]) t->bytes = 0;
    EXPECT_DOUBLE_EQ(p.write_average(), 50);  // 5 * 60 / 6
    p.types[index(Access::rewrite)][index(Type::scatter)]->bytes = 120;
    EXPECT_DOUBLE_EQ(p.write_average(), 70);
    EXPECT_DOUBLE_EQ(p.effective_bandwidth(), std::sqrt(70.0 * 60));
}

TEST(Result, sums_and_the_weighted_rate_run_over_all_three_accesses) {
    auto p = partition(2, 10);
    EXPECT_EQ(p.bytes(), 300);
    EXPECT_DOUBLE_EQ(p.seconds(), 30);
    EXPECT_DOUBLE_EQ(p.weighted_rate(), 10);
    // Row 1 has 4 of the 192 units; a row without units has no weight.
    p.rows[0][1]->bytes = 10 + 48;
    p.rows[0][0]->bytes = 1000;
    EXPECT_DOUBLE_EQ(p.weighted_rate(), 11);
}

TEST(Result, all_three_criteria_make_a_run_valid) {
    const auto run = official({{4, 10}});
    EXPECT_TRUE(run.valid(0));
    const auto list = run.criteria(0);
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0].text, "scheduled for at least 30 min (this run: 30.0 min)");
    EXPECT_EQ(list[1].text, "shared file pointers in pattern type shared");
    EXPECT_EQ(list[2].text, "no errors (this run: 0)");
}

TEST(Result, the_time_of_the_partition_counts_and_not_that_of_the_run) {
    auto run = official({{1, 10}, {2, 10}, {4, 10}});
    EXPECT_TRUE(run.valid(2));
    run.setup.budget = time_budget(1800, 3, false);
    EXPECT_EQ(missed(run),
              (std::vector<std::string>{"scheduled for at least 30 min (this run: 10.0 min)"}));
    run.setup.budget = time_budget(3 * 1800 - 1, 3, false);
    EXPECT_EQ(missed(run),
              (std::vector<std::string>{"scheduled for at least 30 min (this run: 30.0 min)"}));
}

TEST(Result, individual_pointers_and_errors_are_not_valid) {
    auto run = official({{1, 10}});
    run.setup.shared_pointer = false;
    run.partitions[0].errors = 7;
    EXPECT_EQ(missed(run), (std::vector<std::string>{"shared file pointers in pattern type shared",
                                                     "no errors (this run: 7)"}));
    EXPECT_FALSE(run.valid(0));
}

TEST(Result, what_effio_itself_changes_makes_a_run_not_valid_and_is_reported) {
    auto run = official({{1, 10}});
    run.setup.parameters.adapt = true;
    run.setup.parameters.storage.backend.name = "sim";
    run.partitions[0].rows[0][3]->stopped = StopReason::cap;
    run.partitions[0].rows[0][9]->stopped = StopReason::cap;
    run.partitions[0].rows[1][2]->valid = false;
    EXPECT_EQ(missed(run),
              (std::vector<std::string>{"no row cut short by --max-bytes (this run: 2)",
                                        "no row is INVALID", "scheduled times are not adapted",
                                        "storage is reached through MPI-IO, not sim"}));
    run = official({{1, 10}});
    run.setup.parameters.storage.backend.mpiio.split = true;
    EXPECT_EQ(missed(run),
              (std::vector<std::string>{"calls as in the definition, not with split collectives"}));
    run.setup.parameters.storage.backend.mpiio.atomic = true;
    EXPECT_EQ(missed(run),
              (std::vector<std::string>{
                  "calls as in the definition, not with atomic mode and split collectives"}));
    run = official({{1, 10}});
    run.setup.parameters.memory.piece = Bytes{64};
    EXPECT_EQ(missed(run),
              (std::vector<std::string>{"the data of a call are in one piece of memory, not in "
                                        "pieces of 64 B with gaps of 64 B"}));
}

}  // namespace
}  // namespace effio::b_eff_io
