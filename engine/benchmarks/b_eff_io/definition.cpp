// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/definition.hpp"

#include <algorithm>
#include <cmath>

#include "core/units.hpp"

namespace effio::b_eff_io {
namespace {

/// Rows 1…7 of types 3 and 4 and where their chunk size is in types 0, 1 and 2.
struct SameChunk {
    std::size_t offset;   ///< row number minus the first row of its type, in types 1 to 4
    std::size_t scatter;  ///< row number in type 0 (skipping the row of L = 2 MiB)
};
constexpr std::array<SameChunk, 7> same_chunks{
    {{1, 1}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}}};
constexpr std::size_t first_shared = 9;
constexpr std::size_t first_separated = 17;
constexpr std::size_t first_segmented = 25;
constexpr std::size_t first_seg_coll = 34;

std::int64_t round_half_up(double x) {
    return static_cast<std::int64_t>(std::floor(x + 0.5000001));
}

}  // namespace

std::string_view name(Type type) {
    constexpr std::array<std::string_view, 5> names{"scatter", "shared", "separated", "segmented",
                                                    "seg_coll"};
    return names[index(type)];
}

std::string_view name(Access access) {
    constexpr std::array<std::string_view, 3> names{"write", "rewrite", "read"};
    return names[index(access)];
}

std::int64_t lmax_bytes(std::int64_t mib) {
    return 8192 * std::clamp<std::int64_t>(mib, 256, 131072);
}

std::array<Row, row_count> row_table(std::int64_t lmax) {
    constexpr std::int64_t k1 = 1 * KiB;
    constexpr std::int64_t k32 = 32 * KiB;
    constexpr std::int64_t m1 = 1 * MiB;
    std::array<Row, row_count> rows;
    std::size_t n = 0;
    const auto add = [&](Type type, std::int64_t l, std::int64_t L, int units, int position) {
        Row& row = rows[n];
        row = {static_cast<int>(n), type,  l,     L,    units, position,
               position == 7,       false, false, false};
        row.first = n == 0 || rows[n - 1].type != type;
        if (row.first && n > 0) rows[n - 1].last = true;
        ++n;
    };
    add(Type::scatter, m1, m1, 0, 0);
    add(Type::scatter, lmax, lmax, 4, 7);
    add(Type::scatter, m1, 2 * m1, 4, 8);
    add(Type::scatter, m1, m1, 4, 5);
    add(Type::scatter, k32, m1, 2, 3);
    add(Type::scatter, k1, m1, 2, 1);
    add(Type::scatter, k32 + 8, m1 + 256, 2, 4);
    add(Type::scatter, k1 + 8, m1 + 8 * KiB, 2, 2);
    add(Type::scatter, m1 + 8, m1 + 8, 2, 6);
    for (const Type type : {Type::shared, Type::separated, Type::segmented, Type::seg_coll}) {
        add(type, m1, m1, 0, 0);
        add(type, lmax, lmax, type == Type::shared ? 4 : 2, 7);
        add(type, m1, m1, 2, 5);
        add(type, k32, k32, 1, 3);
        add(type, k1, k1, 1, 1);
        add(type, k32 + 8, k32 + 8, 1, 4);
        add(type, k1 + 8, k1 + 8, 1, 2);
        add(type, m1 + 8, m1 + 8, 2, 6);
        if (type == Type::segmented || type == Type::seg_coll) {
            add(type, 0, 0, 0, 0);
            rows[n - 1].is_fill_up = true;
        }
    }
    rows[n - 1].last = true;
    return rows;
}

std::size_t rows_reached(Access access, bool rewrite) {
    return access == Access::rewrite && !rewrite ? first_shared : row_count;
}

std::vector<std::int64_t> default_partitions(std::int64_t ranks) {
    if (ranks == 1) return {1};
    if (ranks == 2) return {1, 2};
    const double doublings = std::log2(static_cast<double>(ranks));
    std::int64_t small = std::int64_t{1} << round_half_up(0.35 * doublings);
    std::int64_t medium = std::int64_t{1} << round_half_up(0.70 * doublings);
    if (ranks == 3) small = 1;
    if (ranks == 4) medium = 3;
    return {small, medium, ranks};
}

Budget time_budget(double seconds, std::size_t partitions, bool rewrite) {
    const auto rows = row_table(lmax_bytes(256));
    Budget budget;
    budget.partition_seconds = std::floor(seconds / static_cast<double>(partitions));
    for (const Access access : all_accesses) {
        for (std::size_t p = 0; p < rows_reached(access, rewrite); ++p) {
            budget.units += rows[p].units;
        }
    }
    budget.unit_seconds = budget.partition_seconds / budget.units;
    return budget;
}

void set_segmented_repetitions(std::span<const Row, row_count> rows, Repetitions& repetitions) {
    for (const std::size_t first : {first_segmented, first_seg_coll}) {
        repetitions[first] = 1;
        for (const auto& same : same_chunks) {
            const Row& scatter = rows[same.scatter];
            repetitions[first + same.offset] =
                std::min({repetitions[same.scatter] * (scatter.memory / scatter.chunk),
                          10 * repetitions[first_shared + same.offset],
                          repetitions[first_separated + same.offset]});
        }
        repetitions[first + same_chunks.size() + 1] = 1;
    }
}

Segment segment_of(std::span<const Row, row_count> rows, const Repetitions& repetitions) {
    Segment segment;
    for (std::size_t p = first_segmented; !rows[p].is_fill_up; ++p) {
        segment.used += repetitions[p] * rows[p].memory;
    }
    segment.bytes = (segment.used + MiB - 1) / MiB * MiB;
    return segment;
}

std::int64_t bytes_before(std::span<const Row, row_count> rows, const Repetitions& repetitions,
                          int number) {
    std::int64_t bytes = 0;
    for (auto p = static_cast<std::size_t>(number); !rows[p].first; --p) {
        bytes += rows[p - 1].memory * repetitions[p - 1];
    }
    return bytes;
}

double access_average(std::span<const double, 5> rates) {
    return (2 * rates[0] + rates[1] + rates[2] + rates[3] + rates[4]) / 6;
}

double write_average(std::span<const double, 5> rates, double scatter_rewrite) {
    return (rates[0] + rates[1] + rates[2] + rates[3] + rates[4] + scatter_rewrite) / 6;
}

double effective_bandwidth(double write_average, double read_average) {
    return std::sqrt(write_average * read_average);
}

}  // namespace effio::b_eff_io
