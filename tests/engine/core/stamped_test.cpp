// SPDX-License-Identifier: BSD-3-Clause
// Data of bulk transfers: made cheaply, bound to their place, without repeats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <vector>

#include "core/pattern.hpp"

namespace effio {
namespace {

std::vector<std::byte> copy(std::span<const std::byte> bytes) {
    return {bytes.begin(), bytes.end()};
}

/// The same bytes put together the slow way: byte by byte of one long piece.
std::vector<std::byte> piecewise(const StampedPattern& pattern, std::int64_t offset,
                                 std::size_t bytes, std::size_t step) {
    StampedBuffer buffer(pattern, step);
    std::vector<std::byte> all;
    while (all.size() < bytes) {
        const auto piece = buffer.at(offset + static_cast<std::int64_t>(all.size()),
                                     std::min(step, bytes - all.size()));
        all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
}

TEST(StampedBuffer, a_file_is_the_same_however_it_is_cut_into_transfers) {
    const StampedPattern pattern(7, 3);
    constexpr std::size_t length = 3 * 4096 + 100;
    for (const std::int64_t begin :
         {std::int64_t{0}, std::int64_t{4090}, std::int64_t{4095}, std::int64_t{5},
          StampedPattern::period - 4096, StampedPattern::period - 3, std::int64_t{1} << 40,
          std::int64_t{1} << 50}) {
        StampedBuffer whole(pattern, length);
        const auto expected = copy(whole.at(begin, length));
        for (const std::size_t step : {1U, 7U, 8U, 1000U, 4096U, 4104U}) {
            EXPECT_EQ(piecewise(pattern, begin, length, step), expected) << begin << " " << step;
        }
    }
}

TEST(StampedBuffer, a_page_is_the_period_combined_with_its_key) {
    const StampedPattern pattern(7, 3);
    StampedBuffer buffer(pattern, 4096);
    std::vector<std::byte> base(4096);
    pattern.fill_base(base, 8192);
    for (const std::int64_t page : {2, 2 + 256, 2 + 256 * 1000, 2}) {
        const auto found = buffer.at(page * 4096, 4096);
        for (std::size_t i = 0; i < 4096; i += 8) {
            std::uint64_t expected = 0;
            std::uint64_t word = 0;
            std::memcpy(&expected, base.data() + i, 8);
            std::memcpy(&word, found.data() + i, 8);
            ASSERT_EQ(word, expected ^ pattern.key(static_cast<std::uint64_t>(page))) << i;
        }
    }
}

/// The words of a file, of which a few MiB are put together.
std::vector<std::uint64_t> words_of(const StampedPattern& pattern, std::size_t bytes) {
    StampedBuffer buffer(pattern, StampedPattern::period);
    std::vector<std::uint64_t> words(bytes / 8);
    for (std::size_t at = 0; at < bytes; at += StampedPattern::period) {
        const auto piece = buffer.at(static_cast<std::int64_t>(at),
                                     static_cast<std::size_t>(StampedPattern::period));
        std::memcpy(words.data() + at / 8, piece.data(), piece.size());
    }
    return words;
}

TEST(StampedBuffer, no_word_repeats_in_several_periods_files_and_seeds) {
    constexpr std::size_t bytes = 3 * StampedPattern::period;
    std::vector<std::uint64_t> all;
    for (const auto& pattern : {StampedPattern(1, 1), StampedPattern(1, 2), StampedPattern(2, 1)}) {
        const auto words = words_of(pattern, bytes);
        all.insert(all.end(), words.begin(), words.end());
    }
    std::sort(all.begin(), all.end());
    // By chance two of 1.2 million words of 64 bits are equal once in 28 million tries.
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(DataShape, a_compressible_sector_has_its_share_of_random_words_and_one_repeated) {
    const DataShape shape{4, 1};
    EXPECT_EQ(shape.random_words(), 16U);
    const auto stamped = words_of(StampedPattern(1, 1, shape), StampedPattern::period);
    std::vector<std::uint64_t> plain(stamped.size());
    Pattern(1, 1, shape).fill(std::as_writable_bytes(std::span(plain)), 0);
    for (const auto& words : {stamped, plain}) {
        for (std::size_t sector = 0; sector < words.size(); sector += 64) {
            const std::set<std::uint64_t> different(
                words.begin() + static_cast<std::ptrdiff_t>(sector),
                words.begin() + static_cast<std::ptrdiff_t>(sector + 64));
            ASSERT_EQ(different.size(), 17U) << sector;
        }
    }
    // Cut anywhere it is the same.
    std::vector<std::byte> part(1001);
    Pattern(1, 1, shape).fill(part, 3);
    EXPECT_EQ(std::memcmp(part.data(), std::as_bytes(std::span(plain)).data() + 3, 1001), 0);
}

TEST(DataShape, duplicates_are_whole_mib_and_as_many_as_the_ratio_says) {
    constexpr std::size_t mib = std::size_t{1} << 17;  // in words
    const DataShape shape{1, 1.5};
    // floor(k / 1.5) of k = 0…5 is 0 0 1 2 2 3.
    const std::vector<int> unique{0, 0, 1, 2, 2, 3};
    const auto stamped = words_of(StampedPattern(1, 1, shape), 6 * mib * 8);
    std::vector<std::uint64_t> plain(stamped.size());
    Pattern(1, 1, shape).fill(std::as_writable_bytes(std::span(plain)), 0);
    for (const auto& words : {stamped, plain}) {
        for (std::size_t a = 0; a < 6; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                const bool equal =
                    std::equal(words.begin() + static_cast<std::ptrdiff_t>(a * mib),
                               words.begin() + static_cast<std::ptrdiff_t>((a + 1) * mib),
                               words.begin() + static_cast<std::ptrdiff_t>(b * mib));
                EXPECT_EQ(equal, unique[a] == unique[b]) << a << " " << b;
            }
        }
    }
}

TEST(StampedBuffer, blocks_of_another_place_file_or_run_differ) {
    const auto page = [](std::uint64_t seed, std::uint64_t file, std::int64_t offset) {
        StampedBuffer buffer(StampedPattern(seed, file), 4096);
        return copy(buffer.at(offset, 4096));
    };
    const auto right = page(1, 2, 4096);
    EXPECT_EQ(right, page(1, 2, 4096));
    EXPECT_NE(right, page(1, 2, 8192));
    EXPECT_NE(right, page(1, 3, 4096));
    EXPECT_NE(right, page(2, 2, 4096));
}

TEST(Buffer, is_aligned_to_a_page) {
    const Buffer buffer(100);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 4096, 0U);
    EXPECT_EQ(buffer.size(), 100U);
    EXPECT_TRUE(std::all_of(buffer.bytes().begin(), buffer.bytes().end(),
                            [](std::byte b) { return b == std::byte{0}; }));
}

}  // namespace
}  // namespace effio
