// SPDX-License-Identifier: BSD-3-Clause
// Data of bulk transfers: made cheaply, bound to their place, without repeats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
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
          StampedPattern::stamp_place(5) + 3, StampedPattern::stamp_place(62) - 4}) {
        StampedBuffer whole(pattern, length);
        const auto expected = copy(whole.at(begin, length));
        for (const std::size_t step : {1U, 7U, 8U, 1000U, 4096U, 4104U}) {
            EXPECT_EQ(piecewise(pattern, begin, length, step), expected) << begin << " " << step;
        }
    }
}

TEST(StampedBuffer, every_page_has_its_own_stamp_and_the_rest_repeats_after_a_period) {
    const StampedPattern pattern(7, 3);
    StampedBuffer buffer(pattern, 4096);
    const auto first = copy(buffer.at(8192, 4096));
    const auto later = copy(buffer.at(8192 + StampedPattern::period, 4096));
    std::uint64_t stamp = 0;
    // Page 2: two cache lines of 64 bytes from its begin.
    std::memcpy(&stamp, first.data() + 128, 8);
    EXPECT_EQ(stamp, pattern.stamp(2));
    std::memcpy(&stamp, later.data() + 128, 8);
    EXPECT_EQ(stamp, pattern.stamp(2 + StampedPattern::period / 4096));
    EXPECT_NE(std::memcmp(first.data() + 128, later.data() + 128, 8), 0);
    EXPECT_EQ(std::memcmp(first.data(), later.data(), 128), 0);
    EXPECT_EQ(std::memcmp(first.data() + 136, later.data() + 136, 4096 - 136), 0);
}

TEST(StampedPattern, stamps_walk_through_their_pages_line_by_line) {
    EXPECT_EQ(StampedPattern::stamp_place(0), 0);
    EXPECT_EQ(StampedPattern::stamp_place(1), 4096 + 64);
    EXPECT_EQ(StampedPattern::stamp_place(63), 63 * 4096 + 4032);
    EXPECT_EQ(StampedPattern::stamp_place(64), 64 * 4096);
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

TEST(StampedBuffer, no_eight_bytes_occur_twice_within_a_period) {
    StampedBuffer buffer(StampedPattern(1, 1), StampedPattern::period);
    const auto bytes = buffer.at(0, StampedPattern::period);
    std::set<std::uint64_t> words;
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, 8);
        words.insert(word);
    }
    EXPECT_EQ(words.size(), bytes.size() / 8);
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
