// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/interference/turns.hpp"

#include <numeric>

#include "core/balanced_order.hpp"

namespace effio::interference {

std::vector<Turn> turns_of(int groups, Combinations combinations) {
    std::vector<Turn> turns;
    for (int g = 1; g <= groups; ++g) turns.push_back({g});
    if (combinations == Combinations::all || groups == 2) {
        Turn all(static_cast<std::size_t>(groups));
        std::iota(all.begin(), all.end(), 1);
        turns.push_back(std::move(all));
        return turns;
    }
    for (int a = 1; a <= groups; ++a) {
        for (int b = a + 1; b <= groups; ++b) turns.push_back({a, b});
    }
    return turns;
}

std::vector<Turn> turns_of_round(const std::vector<Turn>& turns, std::int64_t round) {
    std::vector<Turn> ordered;
    for (const std::size_t i : balanced_order(turns.size(), static_cast<std::size_t>(round))) {
        ordered.push_back(turns[i]);
    }
    return ordered;
}

}  // namespace effio::interference
