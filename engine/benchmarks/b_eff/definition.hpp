// SPDX-License-Identifier: BSD-3-Clause
// What b_eff 3.6 is, without MPI: message lengths, patterns, who sends to whom
// (docs/definitions/b-eff.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace effio::b_eff {

inline constexpr int length_count = 21;
inline constexpr int last_doubling = 12;  ///< number of the length 4 KiB
inline constexpr int ring_patterns = 6;
inline constexpr int official_random_patterns = 30;
inline constexpr int official_repetitions = 3;
inline constexpr double official_loop_seconds = 0.5;
inline constexpr int method_count = 3;

/// The largest message: 1/128 of the memory of a process, at most 128 MiB; bytes.
std::int64_t lmax_bytes(std::int64_t memory_mib);

/// 1 B, 2 B, … 4 KiB, then eight more in equal ratios up to Lmax; bytes.
struct MessageLengths {
    explicit MessageLengths(std::int64_t lmax);
    std::array<std::int64_t, length_count> bytes{};
    double factor = 2;  ///< f: the ratio above 4 KiB

    std::int64_t operator[](int number) const { return bytes.at(static_cast<std::size_t>(number)); }
    /// The ratio that the loop length of the length `number` >= 1 reckons with.
    double growth(int number) const { return number <= last_doubling ? 2.0 : factor; }
};

/// One message out and one in; a side that is missing is neither sent nor received.
struct Partners {
    std::optional<int> to;
    std::optional<int> from;
    friend bool operator==(const Partners&, const Partners&) = default;
};

/// `ranks` cut into rings of two sizes that differ by one, rings of consecutive ranks.
struct RingSplit {
    int ranks = 2;
    int rings = 1;
    int low = 2;              ///< the smaller size
    int high_rings = 0;       ///< rings of the size low + 1
    bool high_first = false;  ///< the larger rings come first

    /// The split of ring pattern 0…5.
    static RingSplit of_pattern(int ranks, int number);
    static RingSplit one_ring(int ranks) { return {ranks, 1, ranks, 0, false}; }
    int first_size() const { return high_first ? low + 1 : low; }
    struct Ring {
        int first = 0;
        int size = 1;
    };
    Ring ring_of(int position) const;
    std::string name() const;
};

enum class Family {
    ring,             ///< 0-5: rings of consecutive ranks, on the line
    random_ring,      ///< 6-35: one ring in random order
    worst_ring,       ///< one ring that jumps between both ends
    best_bisection,   ///< pairs of neighbors, on the line
    worst_bisection,  ///< pairs of far ends, on the line
    ping_pong,        ///< one pair, on the line; method Sendrecv only
    grid,             ///< neighbors in a 2- or 3-dimensional grid
};
std::string_view name(Family family);

/// One pattern for a number of ranks. Positions count in the pattern's own communicator: the line
/// (1-D, periodic), the ranks in `order`, or the grid.
struct Pattern {
    int number = 0;  ///< as reported; consecutive
    Family family = Family::ring;
    std::string name;
    int ranks = 2;  ///< of the job
    RingSplit split;
    int random_index = 0;      ///< of a random ring: which order of the sequence
    std::vector<int> extents;  ///< of a grid
    int direction = -1;        ///< the only dimension used, or -1 for all
    bool periodic = true;

    bool counts() const { return family == Family::ring || family == Family::random_ring; }
    /// Positions below it take part.
    int participants() const;
    /// What the rank at `position` does in one loop, in order. A second step with the same partner
    /// as the first of its pair is left out.
    std::vector<Partners> steps(int position) const;
    /// Nominal messages of one loop, reckoned with the steps of position 0.
    std::int64_t messages() const;
    /// k, of position 0.
    int step_count() const { return static_cast<int>(steps(0).size()); }
    /// Messages per loop and step: what a process' own bandwidth is multiplied with.
    double messages_per_step() const {
        return static_cast<double>(messages()) / static_cast<double>(step_count());
    }
    bool has_method(int method) const { return family != Family::ping_pong || method == 0; }
    /// How many messages of all ranks are under way at a time, at most: while the ranks do one step
    /// after the other, and while they do all at once.
    std::int64_t messages_of_one_step() const;
    std::int64_t messages_at_once() const;
};

/// All patterns for `ranks` >= 2: 6 rings, `random_patterns`, and (unless only those that count are
/// wanted) the 13 additional ones, fewer below 8 ranks.
std::vector<Pattern> pattern_table(int ranks, int random_patterns, bool additional);

/// The order of the worst ring: 0, P-1, 1, P-2, …
std::vector<int> worst_order(int ranks);

/// The ranks of the grid patterns: as many as give a proper grid of 2 or 3 dimensions.
std::vector<int> grid_extents(int ranks, int dimensions);

}  // namespace effio::b_eff
