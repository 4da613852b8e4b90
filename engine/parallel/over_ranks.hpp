// SPDX-License-Identifier: BSD-3-Clause
// Statistics of all ranks from what each rank measured: reduced, not gathered. Everything here is
// collective over the communicator and belongs outside measured intervals.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/named.hpp"
#include "core/record.hpp"
#include "core/series.hpp"
#include "core/stats.hpp"
#include "parallel/comm.hpp"

namespace effio {

/// Seconds of a whole that are not in its parts. Rounding can make the parts the longer ones, by
/// some 1e-18 s; a time is never negative.
inline double remainder_of(double whole, double parts) {
    return std::max(0.0, whole - parts);
}

/// Divides the number `whole`: `parts` are inserted after it, and it keeps the remainder.
std::vector<NamedNumber> divided(std::vector<NamedNumber> numbers, std::string_view whole,
                                 std::span<const NamedNumber> parts);

/// Minimum, mean and maximum of each number; names and order are the same on all ranks.
std::vector<Named<Spread>> spread_over(const Comm& comm, std::span<const NamedNumber> mine);
Spread spread_over(const Comm& comm, double mine);

/// The operation times of all ranks in one distribution.
Histogram merged_over(const Comm& comm, const Histogram& mine);

/// The bytes of all ranks by time since the common start, from each rank's own series, which began
/// `late` seconds after it.
TimeSeries summed_over(const Comm& comm, TimeSeries mine, double late);

/// The numbers of each rank, in the ranks' order; on the root only. Grows with the ranks.
template <std::size_t N>
std::vector<std::array<double, N>> gathered_over(const Comm& comm,
                                                 const std::array<double, N>& mine) {
    std::vector<std::array<double, N>> all;
    for (std::size_t i = 0; i < N; ++i) {
        const auto column = comm.gather(mine[i]);
        all.resize(column.size());
        for (std::size_t rank = 0; rank < column.size(); ++rank) all[rank][i] = column[rank];
    }
    return all;
}

struct RankValue {
    int rank = 0;
    std::string host;
    double value = 0;
};
/// The ranks with the largest values, largest first, at most `limit` of them; the same on all
/// ranks. A rank goes by the number `called`, if given. Costs three collective calls for each.
std::vector<RankValue> largest_over(const Comm& comm, double mine, const std::string& host,
                                    int limit, std::optional<int> called = {});

}  // namespace effio
