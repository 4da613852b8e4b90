// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/layout.hpp"
#include "core/units.hpp"
#include "frame/ring_patterns/ring_order.hpp"

namespace effio::b_eff {
namespace {

constexpr int ping_ranks = 2;

/// The two messages of a pair: one rank pings, the other answers.
std::vector<Partners> ping_pong(int partner, bool first) {
    const Partners send{partner, {}};
    const Partners receive{{}, partner};
    return first ? std::vector{send, receive} : std::vector{receive, send};
}

/// (next, previous) and back; the way back only if it is another one.
void both_ways(std::vector<Partners>& steps, std::optional<int> next, std::optional<int> previous) {
    steps.push_back({next, previous});
    if (next != previous) steps.push_back({previous, next});
}

/// The dimensions of a grid that a pattern uses.
std::vector<std::size_t> dimensions_used(const Pattern& p) {
    std::vector<std::size_t> used;
    for (std::size_t d = 0; d < p.extents.size(); ++d) {
        const bool asked = p.direction < 0 || static_cast<std::size_t>(p.direction) == d;
        if (asked && p.extents[d] > 1) used.push_back(d);
    }
    return used;
}

/// Messages of all ranks in one step along a dimension: a line of n has n-1, a circle n.
std::int64_t messages_along(const Pattern& p, std::size_t dimension) {
    const std::int64_t extent = p.extents[dimension];
    return (extent - 1 + (p.periodic ? 1 : 0)) * p.participants() / extent;
}

std::vector<Partners> grid_steps(const Pattern& p, int position) {
    std::vector<Partners> steps;
    for (const std::size_t d : dimensions_used(p)) {
        int stride = 1;  // the last coordinate runs fastest
        for (std::size_t later = d + 1; later < p.extents.size(); ++later) {
            stride *= p.extents[later];
        }
        const int extent = p.extents[d];
        const int at = position / stride % extent;
        const auto neighbor = [&](int coordinate) -> std::optional<int> {
            if (!p.periodic && (coordinate < 0 || coordinate >= extent)) return {};
            return position + ((coordinate + extent) % extent - at) * stride;
        };
        both_ways(steps, neighbor(at + 1), neighbor(at - 1));
    }
    return steps;
}

std::vector<Pattern> grid_patterns(int ranks) {
    std::vector<Pattern> all;
    const auto add = [&](int dimensions, bool periodic, int direction, std::string_view suffix) {
        Pattern p;
        p.family = Family::grid;
        p.ranks = ranks;
        p.extents = grid_extents(ranks, dimensions);
        p.periodic = periodic;
        p.direction = direction;
        p.name = fmt::format("{}-{}dim-{}", periodic ? "cyclic" : "acyclic", dimensions, suffix);
        if (!dimensions_used(p).empty()) all.push_back(std::move(p));
    };
    constexpr std::array<std::string_view, 3> axes{"x", "y", "z"};
    add(2, false, -1, "all");
    add(3, false, -1, "all");
    for (const int dimensions : {2, 3}) {
        for (int d = 0; d < dimensions; ++d) add(dimensions, true, d, axes.at(std::size_t(d)));
        add(dimensions, true, -1, "all");
    }
    return all;
}

}  // namespace

std::int64_t lmax_bytes(std::int64_t memory_mib) {
    constexpr std::int64_t per_mib = MiB / 128;
    constexpr std::int64_t most = 128 * MiB;
    return memory_mib >= most / per_mib ? most : memory_mib * per_mib;
}

MessageLengths::MessageLengths(std::int64_t lmax) {
    for (int i = 0; i <= last_doubling; ++i) bytes[std::size_t(i)] = std::int64_t{1} << i;
    const auto largest_doubled = static_cast<double>(bytes[last_doubling]);
    factor = std::pow(static_cast<double>(lmax) / largest_doubled,
                      1.0 / (length_count - 1 - last_doubling));
    double length = largest_doubled;
    for (int i = last_doubling + 1; i < length_count; ++i) {
        length *= factor;
        bytes[std::size_t(i)] = std::llround(length);
    }
    bytes.back() = lmax;
}

RingSplit RingSplit::of_pattern(int ranks, int number) {
    const std::array<int, ring_patterns> medium{
        2, 4, 8, std::max(16, ranks / 4), std::max(32, ranks / 2), ranks};
    const int size = std::min(medium.at(static_cast<std::size_t>(number)), ranks);
    const int wanted = static_cast<int>(static_cast<double>(ranks) / size + 0.4);
    RingSplit s;
    s.ranks = ranks;
    s.rings = std::max(1, std::min(wanted, ranks / 2));
    s.low = ranks / s.rings;
    s.high_rings = ranks - s.low * s.rings;
    s.high_first = s.low % 2 == 1 && s.high_rings > 0;
    return s;
}

RingSplit::Ring RingSplit::ring_of(int position) const {
    const int first_rings = high_first ? high_rings : rings - high_rings;
    const int boundary = first_rings * first_size();
    const int size = position < boundary ? first_size() : 2 * low + 1 - first_size();
    const int begin = position < boundary ? 0 : boundary;
    return {begin + (position - begin) / size * size, size};
}

std::string RingSplit::name() const {
    const char* others = high_rings == 0 ? "fix" : high_first ? "&-1" : "&+1";
    return fmt::format("ring-{}*{}{}", rings, first_size(), others);
}

std::string_view name(Family family) {
    switch (family) {
        case Family::ring:
            return "ring";
        case Family::random_ring:
            return "random ring";
        case Family::worst_ring:
            return "worst ring";
        case Family::best_bisection:
            return "best bisection";
        case Family::worst_bisection:
            return "worst bisection";
        case Family::ping_pong:
            return "ping-pong";
        case Family::grid:
            return "grid";
    }
    return "";
}

int Pattern::participants() const {
    switch (family) {
        case Family::best_bisection:
        case Family::worst_bisection:
            return ranks / 2 * 2;
        case Family::ping_pong:
            return ping_ranks;
        case Family::grid:
            return std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
        default:
            return ranks;
    }
}

std::vector<Partners> Pattern::steps(int position) const {
    if (position >= participants()) return {};
    switch (family) {
        case Family::ring:
        case Family::random_ring:
        case Family::worst_ring: {
            const auto ring = split.ring_of(position);
            const auto neighbors = ring_neighbors(position, ring.first, ring.size);
            std::vector<Partners> steps;
            both_ways(steps, neighbors.next, neighbors.previous);
            return steps;
        }
        case Family::best_bisection:
        case Family::ping_pong:
            return ping_pong(position ^ 1, position % 2 == 0);
        case Family::worst_bisection: {
            const int partner = participants() - 1 - position;
            return ping_pong(partner, position < partner);
        }
        case Family::grid:
            return grid_steps(*this, position);
    }
    return {};
}

std::int64_t Pattern::messages() const {
    switch (family) {
        case Family::ring:
        case Family::random_ring:
        case Family::worst_ring:
            return std::int64_t{ranks} * step_count();
        case Family::grid: {
            std::int64_t sum = 0;
            for (const std::size_t d : dimensions_used(*this)) {
                const bool once = periodic && extents[d] == 2;
                sum += (once ? 1 : 2) * messages_along(*this, d);
            }
            return sum;
        }
        default:
            return participants();
    }
}

std::int64_t Pattern::messages_of_one_step() const {
    switch (family) {
        case Family::best_bisection:
        case Family::worst_bisection:
        case Family::ping_pong:
            return participants() / 2;
        case Family::grid: {
            std::int64_t most = 0;
            for (const std::size_t d : dimensions_used(*this)) {
                most = std::max(most, messages_along(*this, d));
            }
            return most;
        }
        default:
            return ranks;
    }
}

std::int64_t Pattern::messages_at_once() const {
    if (family != Family::ring) return messages();
    // Rings of two have one message a rank, larger ones two.
    const std::int64_t rings_of_two = split.low == 2 ? split.rings - split.high_rings : 0;
    return 2 * std::int64_t{ranks} - 2 * rings_of_two;
}

std::vector<int> worst_order(int ranks) {
    std::vector<int> order(static_cast<std::size_t>(ranks));
    for (int i = 0; i < ranks; ++i) {
        order[static_cast<std::size_t>(i)] = i % 2 == 0 ? i / 2 : ranks - 1 - i / 2;
    }
    return order;
}

std::vector<int> grid_extents(int ranks, int dimensions) {
    for (int size = ranks;; --size) {
        auto extents = balanced_grid(size, dimensions);
        if (extents.back() > 1 || (size < 8 && size % 2 == 0) || size < 4) return extents;
    }
}

std::vector<Pattern> pattern_table(int ranks, int random_patterns, bool additional) {
    std::vector<Pattern> all;
    const auto add = [&](Family family, std::string name, RingSplit split) -> Pattern& {
        Pattern p;
        p.family = family;
        p.name = std::move(name);
        p.ranks = ranks;
        p.split = split;
        all.push_back(std::move(p));
        return all.back();
    };
    for (int number = 0; number < ring_patterns; ++number) {
        const auto split = RingSplit::of_pattern(ranks, number);
        add(Family::ring, split.name(), split);
    }
    const auto one_ring = RingSplit::one_ring(ranks);
    for (int index = 0; index < random_patterns; ++index) {
        add(Family::random_ring, "random-cyc-1dim", one_ring).random_index = index;
    }
    if (additional) {
        add(Family::worst_ring, "worst-cyc-1dim", one_ring);
        // Two blanks, as the original prints it.
        add(Family::best_bisection, "best  bi-section", one_ring);
        add(Family::worst_bisection, "worst bi-section", one_ring);
        add(Family::ping_pong, "one PingPong Pair", one_ring);
        for (auto& p : grid_patterns(ranks)) all.push_back(std::move(p));
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i].number = static_cast<int>(i);
    return all;
}

}  // namespace effio::b_eff
