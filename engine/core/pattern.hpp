// SPDX-License-Identifier: BSD-3-Clause
// What the bytes of a file should be: a pure function of (seed, file, offset).
//
// Every byte depends on its position, so a block that lands in the wrong place, in the wrong file
// or from the wrong run is seen; the words look random and none repeats, so compression and
// deduplication gain nothing unless a DataShape asks for it. Made and checked at about the speed
// of memory: one multiplication per eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/buffer.hpp"

namespace effio {

/// A bijective mix of 64 bits (the finalizer of SplitMix64, Steele et al., OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// Data that differ from what they should be.
struct Mismatch {
    std::int64_t offset = 0;       ///< of the first wrong byte
    unsigned expected = 0;         ///< that byte as it should be
    unsigned found = 0;            ///< that byte as it is
    std::int64_t wrong_bytes = 0;  ///< in all of the data checked

    std::string text() const;  ///< "first wrong byte at 123: expected 0x12, found 0x00; 4096 wrong"
};

/// Compares two byte ranges of equal length; `offset` is the file position of the first byte.
std::optional<Mismatch> compare(std::span<const std::byte> expected,
                                std::span<const std::byte> found, std::int64_t offset);

/// Other data as a whole and not damaged ones: no eight bytes are as expected, nor is it a hole.
bool is_foreign(std::span<const std::byte> expected, std::span<const std::byte> found);

/// How much storage that compresses or deduplicates may gain from the data.
struct DataShape {
    static constexpr std::uint64_t words_per_sector = 64;  ///< of 512 bytes
    static constexpr double most_compressible = 64;        ///< one random word per sector
    /// Bytes between equal blocks.
    static constexpr std::uint64_t duplicate_distance = std::uint64_t{1} << 20;

    /// Compression ratio, at least 1: in each sector of 512 bytes the words past the first
    /// 64 / `compressible` are all equal.
    double compressible = 1;
    /// Bytes to unique bytes, at least 1: the k-th MiB of a file is equal to the j-th where
    /// floor(k / `duplicate`) = floor(j / `duplicate`).
    double duplicate = 1;

    bool is_plain() const { return compressible <= 1 && duplicate <= 1; }
    /// Random words in each sector, at its start.
    std::uint64_t random_words() const;
    /// The MiB of unique data that the MiB number `copy` of the file holds.
    std::uint64_t unique_copy(std::uint64_t copy) const {
        if (duplicate <= 1) [[likely]]
            return copy;
        return static_cast<std::uint64_t>(static_cast<double>(copy) / duplicate);
    }
};

class Pattern {
  public:
    Pattern(std::uint64_t seed, std::uint64_t file, const DataShape& shape = {})
        : key_(mix64(seed) ^ mix64(file ^ 0x5851f42d4c957f2dULL)), shape_(shape) {}

    /// The bytes at `offset` and after it. Any offset and length.
    void fill(std::span<std::byte> out, std::int64_t offset) const;
    /// What is wrong with `data` read from `offset`; nothing if it is right.
    std::optional<Mismatch> check(std::span<const std::byte> data, std::int64_t offset) const;

    /// The aligned eight bytes number `index` (file offset / 8).
    std::uint64_t word(std::uint64_t index) const {
        return shape_.is_plain() ? random_word(index) : shaped_word(index);
    }
    /// The same without regard to the shape.
    std::uint64_t random_word(std::uint64_t index) const {
        std::uint64_t x = (key_ + index) * 0x9e3779b97f4a7c15ULL;
        x ^= x >> 32;
        x *= 0xd6e8feb86659fd93ULL;
        return x ^ (x >> 29);
    }

  private:
    std::uint64_t shaped_word(std::uint64_t index) const;

    std::uint64_t key_;
    DataShape shape_;
};

/// The data of bulk transfers: random words of one `period`, and for each 4 KiB `page` of the file
/// a key of eight bytes, a function of (seed, file, page), that is combined with each word of the
/// page by exclusive or. No two sectors of any files, seeds or places are equal, and no part of one
/// repeats in another. A buffer that holds a period needs one pass over a page for each page that
/// is written: some 2 % of what a write to memory costs.
class StampedPattern {
  public:
    static constexpr std::int64_t page = 4096;
    static constexpr std::int64_t period = std::int64_t{1} << 20;
    static constexpr auto pages_per_period = static_cast<std::uint64_t>(period / page);
    static_assert(DataShape::duplicate_distance == static_cast<std::uint64_t>(period));

    StampedPattern(std::uint64_t seed, std::uint64_t file, const DataShape& shape = {})
        : base_(seed, file), key_(mix64(mix64(seed) + file)), shape_(shape) {}

    /// Fills `out` with the words of the period, keys not applied, as they are at `offset`.
    void fill_base(std::span<std::byte> out, std::int64_t offset) const;
    /// Key of the page with this number >= 0. Never 0 in practice: what is not a random word is the
    /// key.
    std::uint64_t key(std::uint64_t page_number) const {
        const std::uint64_t copy = shape_.unique_copy(page_number / pages_per_period);
        return mix64(key_ ^ (copy * pages_per_period + page_number % pages_per_period));
    }

  private:
    Pattern base_;
    std::uint64_t key_;
    DataShape shape_;
};

/// Memory from which any piece of a stamped file can be written or compared with.
class StampedBuffer {
  public:
    /// `largest` is the longest piece. Takes `largest` + about 1 MiB of memory.
    StampedBuffer(const StampedPattern& pattern, std::size_t largest);

    /// The bytes of the file at `offset` >= 0; valid until the next call. Goes once over each page
    /// that held other data.
    std::span<const std::byte> at(std::int64_t offset, std::size_t bytes) {
        constexpr auto page = static_cast<std::uint64_t>(StampedPattern::page);
        const auto begin = static_cast<std::uint64_t>(offset);
        const std::uint64_t inside = begin % static_cast<std::uint64_t>(StampedPattern::period);
        auto slot = static_cast<std::size_t>(inside / page);
        for (std::uint64_t number = begin / page; number * page < begin + bytes; ++number, ++slot) {
            const std::uint64_t key = pattern_.key(number);
            if (keys_[slot] != key) apply(slot, key);
        }
        return {memory_.bytes().data() + inside, bytes};
    }
    /// All that `at` hands out pieces of.
    std::span<std::byte> memory() { return memory_.bytes(); }

  private:
    /// Makes the page at `slot` that of `key`.
    void apply(std::size_t slot, std::uint64_t key);

    StampedPattern pattern_;
    Buffer memory_;  ///< its byte i is that of every file offset that is i modulo the period
    std::vector<std::uint64_t> keys_;  ///< that its pages are combined with
};

}  // namespace effio
