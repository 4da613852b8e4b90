// SPDX-License-Identifier: BSD-3-Clause
// The numbers of the definition against those that docs/definitions/b-eff-io.md states or that
// follow from it.
#include "benchmarks/b_eff_io/definition.hpp"
#include "benchmarks/b_eff_io/marks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/units.hpp"

namespace effio::b_eff_io {
namespace {

constexpr std::int64_t k1 = 1024;
constexpr std::int64_t k32 = 32 * k1;
constexpr std::int64_t m1 = 1024 * k1;
constexpr std::int64_t lmax = 16 * m1;

TEST(Definition, the_largest_chunk_is_a_128th_of_the_memory_within_2_MiB_and_1_GiB) {
    EXPECT_EQ(lmax_bytes(1), 2 * m1);
    EXPECT_EQ(lmax_bytes(128), 2 * m1);
    EXPECT_EQ(lmax_bytes(256), 2 * m1);
    EXPECT_EQ(lmax_bytes(257), 2 * m1 + 8192);
    EXPECT_EQ(lmax_bytes(2048), 16 * m1);
    EXPECT_EQ(lmax_bytes(131072), 1024 * m1);
    EXPECT_EQ(lmax_bytes(1000000), 1024 * m1);
}

struct Expected {
    std::int64_t chunk, memory;
    int units, position;
};

TEST(Definition, the_43_rows_are_those_of_the_pattern_table) {
    const std::vector<Expected> scatter{{m1, m1, 0, 0},
                                        {lmax, lmax, 4, 7},
                                        {m1, 2 * m1, 4, 8},
                                        {m1, m1, 4, 5},
                                        {k32, m1, 2, 3},
                                        {k1, m1, 2, 1},
                                        {k32 + 8, m1 + 256, 2, 4},
                                        {k1 + 8, m1 + 8 * k1, 2, 2},
                                        {m1 + 8, m1 + 8, 2, 6}};
    const auto others = [](int lmax_units, bool fill_up) {
        std::vector<Expected> rows{{m1, m1, 0, 0},         {lmax, lmax, lmax_units, 7},
                                   {m1, m1, 2, 5},         {k32, k32, 1, 3},
                                   {k1, k1, 1, 1},         {k32 + 8, k32 + 8, 1, 4},
                                   {k1 + 8, k1 + 8, 1, 2}, {m1 + 8, m1 + 8, 2, 6}};
        if (fill_up) rows.push_back({0, 0, 0, 0});
        return rows;
    };
    const auto table = row_table(lmax);
    std::size_t p = 0;
    for (const auto& [type, rows] :
         {std::pair(Type::scatter, scatter), std::pair(Type::shared, others(4, false)),
          std::pair(Type::separated, others(2, false)), std::pair(Type::segmented, others(2, true)),
          std::pair(Type::seg_coll, others(2, true))}) {
        for (std::size_t j = 0; j < rows.size(); ++j, ++p) {
            ASSERT_LT(p, table.size());
            const Row& row = table[p];
            SCOPED_TRACE(p);
            EXPECT_EQ(row.number, static_cast<int>(p));
            EXPECT_EQ(row.type, type);
            EXPECT_EQ(row.chunk, rows[j].chunk);
            EXPECT_EQ(row.memory, rows[j].memory);
            EXPECT_EQ(row.units, rows[j].units);
            EXPECT_EQ(row.position, rows[j].position);
            EXPECT_EQ(row.is_lmax, rows[j].chunk == lmax);
            EXPECT_EQ(row.is_fill_up, rows[j].chunk == 0);
            EXPECT_EQ(row.first, j == 0);
            EXPECT_EQ(row.last, j + 1 == rows.size());
        }
    }
    EXPECT_EQ(p, 43U);
}

TEST(Definition, the_time_units_of_the_types_sum_to_64) {
    std::array<int, 5> units{};
    for (const Row& row : row_table(lmax)) units[index(row.type)] += row.units;
    EXPECT_EQ(units, (std::array{22, 12, 10, 10, 10}));
    EXPECT_EQ(std::accumulate(units.begin(), units.end(), 0), 64);
}

TEST(Definition, rewriting_reaches_the_scatter_file_alone_unless_requested) {
    EXPECT_EQ(rows_reached(Access::write, false), 43U);
    EXPECT_EQ(rows_reached(Access::rewrite, false), 9U);
    EXPECT_EQ(rows_reached(Access::rewrite, true), 43U);
    EXPECT_EQ(rows_reached(Access::read, false), 43U);
}

TEST(Definition, default_partitions_are_those_of_the_test_vectors) {
    struct Vector {
        std::int64_t ranks, small, medium;
    };
    // "First of a range": just below it the partition before still holds.
    const std::vector<Vector> vectors{
        {3, 1, 2},         {4, 2, 3},         {5, 2, 4},         {12, 2, 8},
        {20, 4, 8},        {32, 4, 16},       {87, 4, 32},       {142, 8, 32},
        {232, 8, 64},      {625, 8, 128},     {1024, 16, 128},   {1681, 16, 256},
        {4523, 16, 512},   {7420, 32, 512},   {12174, 32, 1024}, {32768, 32, 2048},
        {53762, 64, 2048}, {88205, 64, 4096}, {237431, 64, 8192}};
    using List = std::vector<std::int64_t>;
    EXPECT_EQ(default_partitions(1), (List{1}));
    EXPECT_EQ(default_partitions(2), (List{1, 2}));
    for (std::size_t i = 0; i < vectors.size(); ++i) {
        const auto& [ranks, small, medium] = vectors[i];
        EXPECT_EQ(default_partitions(ranks), (List{small, medium, ranks}));
        const std::int64_t last = i + 1 < vectors.size() ? vectors[i + 1].ranks - 1 : 389544;
        EXPECT_EQ(default_partitions(last), (List{small, medium, last}));
    }
}

TEST(Definition, the_time_budget_gives_the_units_of_the_examples) {
    // T = 60 s, one partition, all rewritten: 60/192.
    const Budget minute = time_budget(60, 1, true);
    EXPECT_EQ(minute.units, 192);
    EXPECT_DOUBLE_EQ(minute.unit_seconds, 0.3125);
    EXPECT_DOUBLE_EQ(time_budget(1800, 1, true).unit_seconds, 9.375);
    EXPECT_DOUBLE_EQ(time_budget(1800, 1, false).unit_seconds, 12);
    EXPECT_EQ(time_budget(1800, 1, false).units, 150);
    EXPECT_DOUBLE_EQ(time_budget(1800, 3, false).partition_seconds, 600);
    EXPECT_DOUBLE_EQ(time_budget(1800, 3, false).unit_seconds, 4);
    EXPECT_DOUBLE_EQ(time_budget(1800, 3, true).unit_seconds, 3.125);
}

TEST(Definition, a_partition_gets_whole_seconds_and_none_if_there_are_too_few) {
    EXPECT_DOUBLE_EQ(time_budget(100, 3, false).partition_seconds, 33);
    EXPECT_DOUBLE_EQ(time_budget(2, 3, false).partition_seconds, 0);
    EXPECT_DOUBLE_EQ(time_budget(2, 3, false).unit_seconds, 0);
}

/// The factors that reproduce the amount of data of the HLRS run (docs/definitions/b-eff-io.md,
/// Time and amounts).
Repetitions hlrs_repetitions() {
    Repetitions r{};
    const std::array types{1, 1, 1, 3, 1,  1,  1,  1, 1,  // scatter
                           1, 1, 1, 3, 5,  4,  6,  1,     // shared
                           1, 1, 2, 9, 18, 11, 20, 2};    // separated
    std::copy(types.begin(), types.end(), r.begin());
    return r;
}

TEST(Definition, segments_repeat_the_least_of_what_the_other_types_managed) {
    const auto rows = row_table(lmax);
    Repetitions r = hlrs_repetitions();
    set_segmented_repetitions(rows, r);
    // By the rows of a type: warm-up 1; Lmax min(1, 10, 1); 1 MiB min(3, 10, 2); 32 KiB
    // min(1*32, 30, 9); 1 KiB min(1*1024, 50, 18); min(32, 40, 11); min(1024, 60, 20); 1 MiB + 8
    // min(1, 10, 2); fill-up 1.
    const std::array expected{1, 1, 2, 9, 18, 11, 20, 1, 1};
    for (std::size_t j = 0; j < expected.size(); ++j) {
        EXPECT_EQ(r[25 + j], expected[j]) << j;
        EXPECT_EQ(r[34 + j], expected[j]) << j;
    }
}

TEST(Definition, each_of_the_three_bounds_of_a_segment_row_can_be_the_least) {
    const auto rows = row_table(lmax);
    Repetitions r;
    r.fill(1000000);
    r[4] = 3;   // scatter 32 KiB, 32 chunks a call: 96
    r[13] = 7;  // shared 1 KiB: 10 * 7
    r[22] = 5;  // separated 32 KiB + 8
    r[3] = 4;   // scatter 1 MiB; the row of 2 MiB (number 2) must not be taken for it
    r[2] = 1;
    set_segmented_repetitions(rows, r);
    EXPECT_EQ(r[28], 96);
    EXPECT_EQ(r[29], 70);
    EXPECT_EQ(r[30], 5);
    EXPECT_EQ(r[27], 4);
}

TEST(Definition, the_fill_up_row_ends_a_segment_at_the_next_MiB) {
    const auto rows = row_table(lmax);
    Repetitions r = hlrs_repetitions();
    set_segmented_repetitions(rows, r);
    const Segment segment = segment_of(rows, r);
    // 1 MiB + 16 MiB + 2 * 1 MiB + 9 * 32 KiB + 18 KiB + 11 * (32 KiB + 8) + 20 * (1 KiB + 8) + 1
    // MiB + 8 = 20 MiB + 694528 B.
    EXPECT_EQ(segment.used, 20 * m1 + 694528);
    EXPECT_EQ(segment.bytes, 21 * m1);
    EXPECT_EQ(segment.fill(), 354048);
}

TEST(Definition, a_segment_that_ends_at_a_MiB_has_nothing_to_fill) {
    const auto rows = row_table(lmax);
    Repetitions r{};
    r[25] = 1;  // the warm-up of 1 MiB alone
    const Segment segment = segment_of(rows, r);
    EXPECT_EQ(segment.bytes, m1);
    EXPECT_EQ(segment.fill(), 0);
}

TEST(Definition, the_amount_of_the_HLRS_run_comes_out_to_the_byte_that_it_prints) {
    auto rows = row_table(lmax);
    Repetitions r = hlrs_repetitions();
    set_segmented_repetitions(rows, r);
    const Segment segment = segment_of(rows, r);
    std::int64_t bytes = 0;
    for (const Row& row : rows) {
        const auto p = static_cast<std::size_t>(row.number);
        bytes += (row.is_fill_up ? segment.fill() : row.memory) * r[p];
    }
    // 32 processes, printed as 3516.800 MiB: 109.900 each.
    EXPECT_NEAR(static_cast<double>(32 * bytes) / static_cast<double>(m1), 3516.800, 0.0005);
}

TEST(Definition, a_row_starts_behind_what_the_earlier_rows_of_its_file_wrote) {
    const auto rows = row_table(lmax);
    Repetitions r;
    r.fill(2);
    EXPECT_EQ(bytes_before(rows, r, 0), 0);
    EXPECT_EQ(bytes_before(rows, r, 1), 2 * m1);
    EXPECT_EQ(bytes_before(rows, r, 3), 2 * (m1 + lmax + 2 * m1));  // in memory, not on disk
    EXPECT_EQ(bytes_before(rows, r, 9), 0);                         // another file
    EXPECT_EQ(bytes_before(rows, r, 12), 2 * (m1 + lmax + m1));
}

TEST(Definition, averages_of_the_HLRS_run) {
    // 003: -rewrite, 32 processes; MB/s.
    const std::array write{86.998, 88.472, 95.186, 83.414, 71.959};
    const std::array rewrite{64.469, 49.024, 70.673, 50.648, 53.845};
    const std::array read{47.801, 40.171, 46.944, 40.404, 40.009};
    EXPECT_NEAR(access_average(write), 85.5045, 1e-9);
    EXPECT_NEAR(access_average(rewrite), 58.855, 0.0005);
    EXPECT_NEAR(access_average(read), 43.855, 1e-9);
    EXPECT_NEAR(write_average(write, rewrite[0]), 81.7497, 0.00005);
    EXPECT_NEAR(effective_bandwidth(write_average(write, rewrite[0]), access_average(read)), 59.876,
                0.0005);
}

TEST(Definition, averages_of_the_sample_without_rewriting) {
    const std::array write{368.383, 384.774, 539.429, 385.576, 378.531};
    const std::array read{3233.701, 1271.823, 3458.197, 2831.636, 3171.512};
    EXPECT_NEAR(access_average(write), 404.179, 0.0005);
    EXPECT_NEAR(access_average(read), 2866.762, 0.0005);
    EXPECT_NEAR(effective_bandwidth(write_average(write, 1044.111), access_average(read)), 1217.187,
                0.0005);
}

TEST(Definition, marks_show_call_chunk_row_and_access) {
    const auto rows = row_table(lmax);
    const Marks marks(rows[5], Access::rewrite);
    EXPECT_DOUBLE_EQ(marks.first(0, 0), 52);
    EXPECT_DOUBLE_EQ(marks.last(0, 0), 57);
    EXPECT_DOUBLE_EQ(marks.first(3, 128), 30128052);
}

}  // namespace
}  // namespace effio::b_eff_io
