// SPDX-License-Identifier: BSD-3-Clause
// What a cap on bytes leaves each row of a partition. Arithmetic only.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/b_eff_io/definition.hpp"

namespace effio::b_eff_io {

/// How many calls each time-driven row of a partition may make under a cap on the bytes of that
/// partition: one, and its share by U/64 of what the cap leaves beyond one call of every row.
/// `least` is what the partition needs in any case.
struct CapShares {
    std::int64_t least = 0;
    Repetitions calls{};
};
CapShares cap_shares(std::span<const Row, row_count> rows, std::int64_t ranks,
                     std::int64_t partition_bytes);

}  // namespace effio::b_eff_io
