// SPDX-License-Identifier: BSD-3-Clause
// What the bytes of a file should be: a pure function of (seed, file, offset).
//
// Every byte depends on its position, so a block that lands in the wrong place, in the wrong file
// or from the wrong run is seen; the words look random, so compression and deduplication gain
// nothing. Made and checked at about the speed of memory: one multiplication per eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

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

class Pattern {
  public:
    Pattern(std::uint64_t seed, std::uint64_t file)
        : key_(mix64(seed) ^ mix64(file ^ 0x5851f42d4c957f2dULL)) {}

    /// The bytes that stand at `offset` and after it. Any offset and length.
    void fill(std::span<std::byte> out, std::int64_t offset) const;
    /// What is wrong with `data` read from `offset`; nothing if it is right.
    std::optional<Mismatch> check(std::span<const std::byte> data, std::int64_t offset) const;

    /// The aligned eight bytes number `index` (file offset / 8).
    std::uint64_t word(std::uint64_t index) const {
        std::uint64_t x = (key_ + index) * 0x9e3779b97f4a7c15ULL;
        x ^= x >> 32;
        x *= 0xd6e8feb86659fd93ULL;
        return x ^ (x >> 29);
    }

  private:
    std::uint64_t key_;
};

/// The data of bulk transfers: random-looking bytes that repeat every `period`, and in each `page`
/// a stamp of eight bytes that depends on (seed, file, page). A buffer that holds the repeating
/// bytes once needs nothing but the stamps for each transfer, so the data cost next to nothing
/// inside a timed loop; still every block is bound to its place, and what compresses or
/// deduplicates less than `period` at a time gains nothing.
class StampedPattern {
  public:
    static constexpr std::int64_t page = 4096;
    static constexpr std::int64_t period = std::int64_t{1} << 20;
    static constexpr std::int64_t line = 64;  ///< of a cache
    static_assert(period / page % (page / line) == 0, "a stamp has one place in the period");

    StampedPattern(std::uint64_t seed, std::uint64_t file)
        : base_(seed, file), key_(mix64(mix64(seed) + file)) {}

    /// Fills `out` with the repeating bytes, stamps not included, as they stand at `offset`.
    void fill_base(std::span<std::byte> out, std::int64_t offset) const;
    std::uint64_t stamp(std::int64_t page_number) const {
        return mix64(key_ ^ static_cast<std::uint64_t>(page_number));
    }
    /// Where it stands in the file: in page 0 at the begin, in each page one cache line further
    /// on. Stamps exactly a page apart would share one set of the processor's cache and push each
    /// other out, which makes them five times as dear.
    static constexpr std::int64_t stamp_place(std::int64_t page_number) {
        return page_number * page + page_number % (page / line) * line;
    }

  private:
    Pattern base_;
    std::uint64_t key_;
};

/// Memory from which any piece of a stamped file can be written or compared with.
class StampedBuffer {
  public:
    /// `largest` is the longest piece. Takes `largest` + about 1 MiB of memory.
    StampedBuffer(const StampedPattern& pattern, std::size_t largest);

    /// The bytes of the file at `offset` >= 0; valid until the next call. Stores one stamp per
    /// page.
    std::span<const std::byte> at(std::int64_t offset, std::size_t bytes) {
        constexpr auto page = StampedPattern::page;
        const auto end = offset + static_cast<std::int64_t>(bytes);
        std::byte* const first = memory_.bytes().data() + offset % StampedPattern::period;
        for (std::int64_t number = offset / page; number * page < end; ++number) {
            // The first one may begin before the piece and reach into it, the last one behind it.
            const std::int64_t place = StampedPattern::stamp_place(number) - offset;
            if (place <= -stamp_bytes || offset + place >= end) continue;
            const std::uint64_t stamp = pattern_.stamp(number);
            std::memcpy(first + place, &stamp, sizeof stamp);
        }
        return {first, bytes};
    }
    /// All that `at` hands out pieces of.
    std::span<std::byte> memory() { return memory_.bytes(); }

  private:
    static constexpr std::int64_t stamp_bytes = sizeof(std::uint64_t);

    StampedPattern pattern_;
    Buffer memory_;  ///< its byte i is that of every file offset that is i modulo the period
};

}  // namespace effio
