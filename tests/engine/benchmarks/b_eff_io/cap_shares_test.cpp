// SPDX-License-Identifier: BSD-3-Clause
// How many calls a cap on bytes leaves to each row.
#include <gtest/gtest.h>

#include <numeric>

#include "benchmarks/b_eff_io/cap_shares.hpp"

namespace effio::b_eff_io {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// The bytes of a partition whose rows make `calls` calls.
std::int64_t bytes_of(std::int64_t ranks, Repetitions calls) {
    auto rows = row_table(2 * mebibyte);
    set_segmented_repetitions(rows, calls);
    std::int64_t bytes = 2 * ranks * segment_of(rows, calls).bytes;
    for (const Row& row : rows) {
        if (row.type > Type::separated) continue;
        bytes += ranks * row.memory * calls[static_cast<std::size_t>(row.number)];
    }
    return bytes;
}

TEST(CapShares, one_call_of_every_row_is_needed_in_any_case) {
    const auto rows = row_table(2 * mebibyte);
    // Type 0: 11 MiB and 256 + 8192 + 8 B; types 1 and 2: 5 MiB and 2 * (32 + 1) KiB + 24 B each;
    // types 3 and 4 the same, filled up to 6 MiB.
    const std::int64_t least = 11 * mebibyte + 8456 + 2 * (5 * mebibyte + 67608) + 12 * mebibyte;
    for (const std::int64_t ranks : {1, 3}) {
        const auto shares = cap_shares(rows, ranks, 0);
        EXPECT_EQ(shares.least, ranks * least);
        for (const auto calls : shares.calls) EXPECT_EQ(calls, 1);
    }
}

TEST(CapShares, the_rest_is_shared_out_by_time_units) {
    const auto rows = row_table(2 * mebibyte);
    const std::int64_t ranks = 2;
    const std::int64_t least = cap_shares(rows, ranks, 0).least;
    // 64 shares of 4 MiB: U/64 of 256 MiB in calls of n L.
    const auto shares = cap_shares(rows, ranks, least + 256 * mebibyte);
    EXPECT_EQ(shares.calls[0], 1);             // U = 0
    EXPECT_EQ(shares.calls[1], 1 + 16 / 4);    // U = 4: 16 MiB in calls of 2 * 2 MiB
    EXPECT_EQ(shares.calls[3], 1 + 16 / 2);    // calls of 2 * 1 MiB
    EXPECT_EQ(shares.calls[8], 1 + 3);         // U = 2: 8 MiB in calls of 2 MiB + 16
    EXPECT_EQ(shares.calls[13], 1 + 4 * 512);  // U = 1: 4 MiB in calls of 2 KiB
    EXPECT_EQ(shares.calls[18], 1 + 8 / 4);
}

TEST(CapShares, what_the_rows_may_write_stays_below_the_cap) {
    const auto rows = row_table(2 * mebibyte);
    for (const std::int64_t ranks : {1, 2, 7}) {
        const std::int64_t least = cap_shares(rows, ranks, 0).least;
        for (const std::int64_t more :
             {std::int64_t{0}, mebibyte, 100 * mebibyte, 12345 * mebibyte}) {
            const auto shares = cap_shares(rows, ranks, least + more);
            EXPECT_LE(bytes_of(ranks, shares.calls), least + more + 2 * ranks * mebibyte);
        }
    }
}

}  // namespace
}  // namespace effio::b_eff_io
