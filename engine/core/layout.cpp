// SPDX-License-Identifier: BSD-3-Clause
#include "core/layout.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/pattern.hpp"

namespace effio {
namespace {

/// The divisors in ascending order; found in the root of `size` steps.
std::vector<int> divisors_of(int size) {
    std::vector<int> small;
    std::vector<int> large;
    for (int d = 1; d <= size / d; ++d) {
        if (size % d != 0) continue;
        small.push_back(d);
        if (d != size / d) large.push_back(size / d);
    }
    small.insert(small.end(), large.rbegin(), large.rend());
    return small;
}

/// Descending extents of at most `most` each, the largest as small as possible, then the second;
/// nothing if there are none. `divisors` are those of `size`, and maybe others.
std::optional<std::vector<int>> extents_up_to(int size, int dimensions, int most,
                                              std::span<const int> divisors) {
    if (dimensions == 1) {
        if (size > most) return {};
        return std::vector<int>{size};
    }
    for (const int largest : divisors) {
        if (largest > std::min(size, most)) break;
        if (size % largest != 0) continue;
        if (auto rest = extents_up_to(size / largest, dimensions - 1, largest, divisors); rest) {
            rest->insert(rest->begin(), largest);
            return rest;
        }
    }
    return {};
}

}  // namespace

std::int64_t Box::bytes() const {
    std::int64_t bytes = element;
    for (const auto n : count) bytes *= n;
    return bytes;
}

std::int64_t Box::first() const {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + start[d];
    return at * element;
}

std::int64_t Box::run() const {
    if (bytes() == 0) return 0;
    std::int64_t run = element;
    for (std::size_t d = sizes.size(); d-- > 0;) {
        run *= count[d];
        if (count[d] != sizes[d]) break;
    }
    return run;
}

std::int64_t Box::place(std::int64_t offset) const {
    std::int64_t index = offset / element;
    std::int64_t stride = element;
    std::int64_t at = offset % element;
    for (std::size_t d = sizes.size(); d-- > 0;) {
        at += (start[d] + index % count[d]) * stride;
        index /= count[d];
        stride *= sizes[d];
    }
    return at;
}

std::int64_t Strides::pieces() const {
    std::int64_t all = 1;
    for (const auto& level : levels) all *= level.count;
    return all;
}

std::int64_t Strides::nested(std::int64_t number) const {
    std::int64_t at = 0;
    for (const auto& level : levels) {
        at += number % level.count * level.stride;
        number /= level.count;
    }
    return at;
}

Permutation::Permutation(std::int64_t size, std::uint64_t seed)
    : size_(size),
      key_(mix64(seed)),  // mixed: the rounds add to it, so neighboring seeds would share rounds
      half_bits_(
          (static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size > 1 ? size - 1 : 1))) +
           1) /
          2) {
    if (size_ >= exact) return;
    const auto items = static_cast<std::size_t>(size_);
    std::iota(shuffled_.begin(), shuffled_.begin() + items, std::uint8_t{0});
    for (std::size_t left = items; left > 1; --left) {
        const auto drawn = static_cast<std::size_t>(mix64(key_ + left) % left);
        std::swap(shuffled_[left - 1], shuffled_[drawn]);
    }
}

std::uint64_t Permutation::round_trip(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    // With four rounds the successor of an item is visibly biased for small sizes (64, 256); with
    // six it is not.
    for (std::uint64_t round = 0; round < 6; ++round) {
        const std::uint64_t next = left ^ (mix64(right + key_ + (round << 56)) & mask);
        left = right;
        right = next;
    }
    return (left << half_bits_) | right;
}

std::int64_t Permutation::walked(std::int64_t index) const {
    auto value = static_cast<std::uint64_t>(index);
    do {
        value = round_trip(value);
    } while (value >= static_cast<std::uint64_t>(size_));
    return static_cast<std::int64_t>(value);
}

std::vector<int> balanced_grid(int size, int dimensions) {
    return *extents_up_to(size, dimensions, size, divisors_of(size));
}

Walk::Walk(const Blocks& blocks, std::int64_t part, Order order, std::uint64_t seed,
           std::int64_t existing)
    : blocks_(blocks),
      part_(part),
      order_(order),
      seed_(seed),
      length_(blocks.transfers()),
      existing_blocks_(existing / blocks.block) {
    if (order == Order::shuffled && length_ > 0) shuffle_.emplace(blocks.parts * length_, seed);
}

std::int64_t Walk::scattered(std::int64_t step) const {
    // The transfers of the whole file, numbered by offset, are dealt out round-robin.
    if (shuffle_) return (*shuffle_)(step * blocks_.parts + part_) * blocks_.transfer;
    const std::int64_t segment = step / blocks_.transfers_per_block();
    const std::int64_t inside = step % blocks_.transfers_per_block();
    const std::uint64_t draw =
        mix64(seed_ ^ mix64(static_cast<std::uint64_t>(segment * blocks_.parts + part_)));
    const auto block =
        static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(existing_blocks_));
    return block * blocks_.block + inside * blocks_.transfer;
}

}  // namespace effio
