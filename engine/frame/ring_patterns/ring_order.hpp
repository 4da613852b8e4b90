// SPDX-License-Identifier: BSD-3-Clause
// Rings of ranks: who is next to whom, and random orders that a recorded number brings back.
#pragma once

#include <cstdint>
#include <vector>

namespace effio {

/// The neighbors of a position in a ring of `size` consecutive positions that begins at `first`.
struct RingNeighbors {
    int next = 0;
    int previous = 0;
};
constexpr RingNeighbors ring_neighbors(int position, int first, int size) {
    const int inside = position - first;
    return {first + (inside + 1) % size, first + (inside + size - 1) % size};
}

/// The random order number `index` (0, 1, …) of the sequence that `seed` starts: which rank is
/// at each position. As b_eff draws it (docs/definitions/b-eff.md, Patterns): the numbers of
/// srand48(seed) and drand48; for rank 0, 1, … a first slot int(drand48 * ranks), and from there
/// cyclically the first that is free. O(ranks) time and 8 bytes a rank, half of them temporary.
std::vector<int> random_order(int ranks, std::uint32_t seed, std::int64_t index);

}  // namespace effio
