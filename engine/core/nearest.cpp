// SPDX-License-Identifier: BSD-3-Clause
#include "core/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace effio {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
        }
    }
    return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string> known) {
    std::string_view best;
    std::size_t distance = std::min<std::size_t>(3, (word.size() + 1) / 2) + 1;
    for (const auto& candidate : known) {
        const std::size_t d = edit_distance(word, candidate);
        if (d < distance) {
            distance = d;
            best = candidate;
        }
    }
    return best;
}

}  // namespace effio
