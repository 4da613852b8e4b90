// SPDX-License-Identifier: BSD-3-Clause
// The definition of b_eff_io 2.1 as numbers: rows, partitions, time budget, repetition factors and
// averages (docs/definitions/b-eff-io.md). Pure arithmetic. Sizes in bytes, times in seconds, rates
// in B/s.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace effio::b_eff_io {

enum class Type { scatter, shared, separated, segmented, seg_coll };
enum class Access { write, rewrite, read };
inline constexpr std::array all_types{Type::scatter, Type::shared, Type::separated, Type::segmented,
                                      Type::seg_coll};
inline constexpr std::array all_accesses{Access::write, Access::rewrite, Access::read};
std::string_view name(Type type);
std::string_view name(Access access);
constexpr std::size_t index(Type type) {
    return static_cast<std::size_t>(type);
}
constexpr std::size_t index(Access access) {
    return static_cast<std::size_t>(access);
}

inline constexpr std::size_t row_count = 43;

/// One row of the pattern table.
struct Row {
    int number = 0;  ///< p, 0…42
    Type type = Type::scatter;
    std::int64_t chunk = 0;   ///< l: contiguous bytes on disk
    std::int64_t memory = 0;  ///< L: contiguous bytes in memory per call and process
    int units = 0;            ///< U: time units, and weight in averages; 0 = exactly one call
    int position = 0;         ///< row of the summary table, 1…7; 8 = its extra line; 0 = none
    bool is_lmax = false;
    bool is_fill_up = false;  ///< sized when the segment is known
    bool first = false;       ///< opens the file
    bool last = false;        ///< closes it
};

/// Lmax of a memory of `mib` MiB per process: memory/128 within 2 MiB…1 GiB.
std::int64_t lmax_bytes(std::int64_t mib);
/// The 43 rows; fill-up rows have size 0.
std::array<Row, row_count> row_table(std::int64_t lmax);
/// Rows that `access` reaches: all, or those of type 0 for rewriting without `rewrite`.
std::size_t rows_reached(Access access, bool rewrite);

/// The partition sizes that a run with `ranks` processes uses unless specified otherwise.
std::vector<std::int64_t> default_partitions(std::int64_t ranks);

struct Budget {
    double partition_seconds = 0;  ///< Tn: whole seconds (integer division, as the original)
    int units = 0;                 ///< sum of U over the three accesses: 192 or 150
    double unit_seconds = 0;       ///< Tu
};
Budget time_budget(double seconds, std::size_t partitions, bool rewrite);

/// Repetition factors by row. Fills in those of types 3 and 4 from those of types 0 to 2:
/// min(rep0 * L0/l0, 10 * rep1, rep2) for each chunk size, 1 for the warm-up and the fill-up row.
using Repetitions = std::array<std::int64_t, row_count>;
void set_segmented_repetitions(std::span<const Row, row_count> rows, Repetitions& repetitions);

struct Segment {
    std::int64_t used = 0;   ///< L3: bytes of a process before the fill-up row
    std::int64_t bytes = 0;  ///< Lseg: the next multiple of 1 MiB
    std::int64_t fill() const { return bytes - used; }
};
Segment segment_of(std::span<const Row, row_count> rows, const Repetitions& repetitions);

/// Bytes of one process in the file before row `number` (the displacement over n).
std::int64_t bytes_before(std::span<const Row, row_count> rows, const Repetitions& repetitions,
                          int number);

/// b(access) = (2*bw0 + bw1 + bw2 + bw3 + bw4) / 6.
double access_average(std::span<const double, 5> type_rates);
/// B_wr = (W0 + … + W4 + X0) / 6: the scatter rewrite in place of a second scatter write.
double write_average(std::span<const double, 5> write_rates, double scatter_rewrite);
/// sqrt(B_wr * b(read)).
double effective_bandwidth(double write_average, double read_average);

inline constexpr double valid_partition_seconds = 1800;

}  // namespace effio::b_eff_io
