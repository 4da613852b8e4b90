// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/cap_shares.hpp"

#include <algorithm>

namespace effio::b_eff_io {

CapShares cap_shares(std::span<const Row, row_count> rows, std::int64_t ranks,
                     std::int64_t partition_bytes) {
    CapShares shares;
    Repetitions once;
    once.fill(1);
    set_segmented_repetitions(rows, once);
    int units = 0;
    for (const Row& row : rows) {
        units += row.units;
        if (row.type != Type::segmented && row.type != Type::seg_coll) {
            shares.least += ranks * row.memory;
        }
    }
    // Types 3 and 4 write at most what type 2 writes in the same rows, and up to 1 MiB of fill.
    shares.least += 2 * ranks * segment_of(rows, once).bytes;
    const auto rest =
        static_cast<double>(std::max<std::int64_t>(0, partition_bytes - shares.least));
    for (const Row& row : rows) {
        const auto one_call = static_cast<double>(ranks * std::max<std::int64_t>(row.memory, 1));
        const double share = rest * row.units / units;
        shares.calls[static_cast<std::size_t>(row.number)] =
            1 + static_cast<std::int64_t>(std::min(share / one_call, 1e15));
    }
    return shares;
}

}  // namespace effio::b_eff_io
