// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/over_ranks.hpp"

#include <algorithm>
#include <limits>

namespace effio {

std::vector<NamedNumber> divided(std::vector<NamedNumber> numbers, std::string_view whole,
                                 std::span<const NamedNumber> parts) {
    const auto at = std::find_if(numbers.begin(), numbers.end(),
                                 [&](const NamedNumber& number) { return number.name == whole; });
    if (parts.empty() || at == numbers.end()) return numbers;
    double sum = 0;
    for (const auto& [name, value] : parts) sum += value;
    at->value = remainder_of(at->value, sum);
    numbers.insert(at + 1, parts.begin(), parts.end());
    return numbers;
}

std::vector<Named<Spread>> spread_over(const Comm& comm, std::span<const NamedNumber> mine) {
    std::vector<double> low;
    for (const auto& [name, value] : mine) low.push_back(value);
    auto high = low;
    auto sum = low;
    comm.min(std::span<double>(low));
    comm.max(std::span<double>(high));
    comm.sum(std::span<double>(sum));
    std::vector<Named<Spread>> spreads;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        spreads.emplace_back(mine[i].name, Spread{low[i], sum[i] / comm.size(), high[i]});
    }
    return spreads;
}

Spread spread_over(const Comm& comm, double mine) {
    const NamedNumber named{"", mine};
    return spread_over(comm, std::span(&named, 1)).front().value;
}

Histogram merged_over(const Comm& comm, const Histogram& mine) {
    auto state = mine.additive_state();
    comm.sum(std::span<std::uint64_t>(state));
    // MPICH 4.0 compares unsigned numbers as signed ones; a rank without operations has a minimum
    // beyond theirs.
    constexpr auto none = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto signed_ns = [none](std::uint64_t ns) {
        return static_cast<std::int64_t>(std::min(ns, none));
    };
    const auto low = static_cast<std::uint64_t>(comm.min(signed_ns(mine.min_ns())));
    const auto high = static_cast<std::uint64_t>(comm.max(signed_ns(mine.max_ns())));
    return Histogram::from_state(state, low == none ? Histogram().min_ns() : low, high);
}

TimeSeries summed_over(const Comm& comm, TimeSeries mine, double late) {
    mine.delay(late);
    mine.widen_to(comm.max(mine.width()));
    auto bytes = mine.slices();
    bytes.resize(static_cast<std::size_t>(comm.max(static_cast<std::int64_t>(bytes.size()))));
    if (!bytes.empty()) comm.sum(std::span<double>(bytes));
    return {mine.width(), std::move(bytes)};
}

std::vector<RankValue> largest_over(const Comm& comm, double mine, const std::string& host,
                                    int limit, std::optional<int> called) {
    std::vector<RankValue> found;
    double bid = mine;
    for (int i = 0; i < std::min(limit, comm.size()); ++i) {
        const double highest = comm.max(bid);
        const int winner = comm.min(bid == highest ? comm.rank() : std::numeric_limits<int>::max());
        std::string where = host;
        comm.broadcast(where, winner);
        int number = called.value_or(comm.rank());
        comm.broadcast(number, winner);
        found.push_back({number, std::move(where), highest});
        if (comm.rank() == winner) bid = -std::numeric_limits<double>::infinity();
    }
    return found;
}

}  // namespace effio
