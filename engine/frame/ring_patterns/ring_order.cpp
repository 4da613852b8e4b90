// SPDX-License-Identifier: BSD-3-Clause
#include "frame/ring_patterns/ring_order.hpp"

#include <numeric>

namespace effio {
namespace {

/// The generator behind drand48 (POSIX): x' = (a x + c) mod 2^48. Our own, because libc's is one
/// for the whole process and cannot leap.
class Rand48 {
  public:
    explicit Rand48(std::uint32_t seed) : state_((std::uint64_t{seed} << 16) | 0x330e) {}

    double next() {
        state_ = (multiplier * state_ + increment) & mask;
        return static_cast<double>(state_) / static_cast<double>(mask + 1);
    }

    /// As `count` calls of next, in O(log count): the map x -> a x + c is squared.
    void skip(std::uint64_t count) {
        std::uint64_t a = multiplier;
        std::uint64_t c = increment;
        for (; count > 0; count >>= 1) {
            if ((count & 1) != 0) state_ = (a * state_ + c) & mask;
            c = (a * c + c) & mask;
            a = (a * a) & mask;
        }
    }

  private:
    static constexpr std::uint64_t multiplier = 0x5deece66d;
    static constexpr std::uint64_t increment = 0xb;
    static constexpr std::uint64_t mask = (std::uint64_t{1} << 48) - 1;
    std::uint64_t state_;
};

/// Which slots of a circle are free. A slot points to itself while it is free, else further on; the
/// ways are shortened as they are gone, so that all searches together cost O(slots).
class FreeSlots {
  public:
    explicit FreeSlots(int slots) : onward_(static_cast<std::size_t>(slots)) {
        std::iota(onward_.begin(), onward_.end(), 0);
    }

    /// Takes the first free slot from `start` on. At least one must be free.
    int take(int start) {
        auto slot = static_cast<std::size_t>(start);
        while (at(slot) != slot) {
            onward_[slot] = onward_[at(slot)];
            slot = at(slot);
        }
        onward_[slot] = static_cast<int>((slot + 1) % onward_.size());
        return static_cast<int>(slot);
    }

  private:
    std::size_t at(std::size_t slot) const { return static_cast<std::size_t>(onward_[slot]); }
    std::vector<int> onward_;
};

}  // namespace

std::vector<int> random_order(int ranks, std::uint32_t seed, std::int64_t index) {
    Rand48 random(seed);
    random.skip(static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(ranks));
    FreeSlots slots(ranks);
    std::vector<int> order(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        const auto start = static_cast<int>(random.next() * ranks);
        order[static_cast<std::size_t>(slots.take(start))] = rank;
    }
    return order;
}

}  // namespace effio
