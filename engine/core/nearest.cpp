// SPDX-License-Identifier: BSD-3-Clause
#include "core/nearest.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace effio {
namespace {

struct Renamed {
    std::string_view before;
    std::string_view now;
};
constexpr std::array<Renamed, 2> renamed{{{"ways", "methods"}, {"beside", "combinations"}}};

/// Letters that are wrong, missing or too many; two that changed places count once.
std::size_t slips(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before;
    std::vector<std::size_t> above(b.size() + 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::vector<std::size_t> row(b.size() + 1, i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitute = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitute});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before = std::exchange(above, std::move(row));
    }
    return above.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string> known) {
    std::string_view best;
    std::size_t distance = std::min<std::size_t>(3, (word.size() + 2) / 3) + 1;
    for (const auto& [before, now] : renamed) {
        if (word == before) word = now;
    }
    for (const auto& candidate : known) {
        const std::size_t d = slips(word, candidate);
        if (d < distance) {
            distance = d;
            best = candidate;
        }
    }
    return best;
}

}  // namespace effio
