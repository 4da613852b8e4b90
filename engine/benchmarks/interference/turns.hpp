// SPDX-License-Identifier: BSD-3-Clause
// Which groups work at the same time, and in which order (docs/definitions/interference.md, Turns).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace effio::interference {

/// What is measured next to each group alone: each pair of groups, or all together.
enum class Combinations { pairs, all };

/// Numbers of the groups that work, from 1, ascending.
using Turn = std::vector<int>;

/// Each group alone, then each pair or all together.
std::vector<Turn> turns_of(int groups, Combinations combinations);

/// The turns of one round in their order. Over balanced_rows(turns) rounds each turn is at each
/// place, and after each other one, equally often.
std::vector<Turn> turns_of_round(const std::vector<Turn>& turns, std::int64_t round);

}  // namespace effio::interference
