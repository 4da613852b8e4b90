// SPDX-License-Identifier: BSD-3-Clause
#include "core/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace effio {
namespace {

std::vector<std::byte> filled(const Pattern& pattern, std::int64_t offset, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    pattern.fill(data, offset);
    return data;
}

TEST(Pattern, any_piece_is_a_piece_of_the_whole) {
    const Pattern pattern(11, 22);
    const auto whole = filled(pattern, 0, 200);
    for (std::int64_t offset = 0; offset < 40; ++offset) {
        for (std::size_t bytes = 0; bytes < 40; ++bytes) {
            const auto piece = filled(pattern, offset, bytes);
            EXPECT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + offset))
                << offset << " " << bytes;
        }
    }
}

TEST(Pattern, aligned_words_are_those_of_word) {
    const Pattern pattern(11, 22);
    const auto data = filled(pattern, 8 * 1'000'000'007LL, 16);
    std::uint64_t word = 0;
    std::copy_n(data.begin(), 8, reinterpret_cast<std::byte*>(&word));
    EXPECT_EQ(word, pattern.word(1'000'000'007));
}

TEST(Pattern, right_data_pass_at_any_offset) {
    const Pattern pattern(1, 2);
    for (const std::int64_t offset : {0LL, 1LL, 7LL, 4095LL, 1LL << 40}) {
        for (const std::size_t bytes : {0UL, 1UL, 8UL, 4096UL, 4097UL, 10000UL}) {
            EXPECT_FALSE(pattern.check(filled(pattern, offset, bytes), offset));
        }
    }
}

TEST(Pattern, every_flipped_byte_is_found_where_it_is) {
    const Pattern pattern(1, 2);
    const auto right = filled(pattern, 1003, 5000);
    for (std::size_t at : {0UL, 1UL, 6UL, 4095UL, 4096UL, 4999UL}) {
        auto data = right;
        data[at] ^= std::byte{0x40};
        const auto bad = pattern.check(data, 1003);
        ASSERT_TRUE(bad) << at;
        EXPECT_EQ(bad->offset, 1003 + static_cast<std::int64_t>(at));
        EXPECT_EQ(bad->wrong_bytes, 1);
        EXPECT_EQ(bad->expected, std::to_integer<unsigned>(right[at]));
        EXPECT_EQ(bad->found, std::to_integer<unsigned>(right[at]) ^ 0x40U);
    }
}

TEST(Pattern, wrong_bytes_are_counted_over_all_of_the_data) {
    const Pattern pattern(1, 2);
    auto data = filled(pattern, 0, 12000);
    for (const std::size_t at : {100UL, 101UL, 5000UL, 11999UL}) data[at] ^= std::byte{1};
    const auto bad = pattern.check(data, 0);
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->offset, 100);
    EXPECT_EQ(bad->wrong_bytes, 4);
    const std::string text = bad->text();
    EXPECT_EQ(text.substr(0, 24), "first wrong byte at 100:");
    EXPECT_NE(text.find("4 wrong"), std::string::npos);
}

TEST(Pattern, swapped_blocks_wrong_files_and_old_runs_are_found) {
    const Pattern pattern(1, 2);
    auto data = filled(pattern, 0, 8192);
    std::swap_ranges(data.begin(), data.begin() + 512, data.begin() + 4096);
    EXPECT_TRUE(pattern.check(data, 0));                           // swapped
    EXPECT_TRUE(pattern.check(filled(pattern, 512, 512), 0));      // shifted by a sector
    EXPECT_TRUE(Pattern(1, 3).check(filled(pattern, 0, 512), 0));  // another file
    EXPECT_TRUE(Pattern(2, 2).check(filled(pattern, 0, 512), 0));  // another run
    EXPECT_TRUE(pattern.check(std::vector<std::byte>(512), 0));    // a hole
    // Seed and file are not exchangeable.
    EXPECT_TRUE(Pattern(2, 1).check(filled(pattern, 0, 512), 0));
}

TEST(Pattern, words_do_not_repeat) {
    std::set<std::uint64_t> words;
    for (const std::uint64_t file : {0U, 1U, 2U}) {
        const Pattern pattern(5, file);
        for (std::uint64_t i = 0; i < 10000; ++i) words.insert(pattern.word(i));
    }
    EXPECT_EQ(words.size(), 30000U);
}

TEST(Pattern, foreign_is_what_shares_no_word_and_is_not_a_hole) {
    const auto ours = filled(Pattern(1, 2), 0, 4099);
    auto found = filled(Pattern(1, 3), 0, 4099);
    EXPECT_TRUE(is_foreign(ours, found));
    found[4098] = ours[4098];  // of the last word only three bytes are there
    EXPECT_TRUE(is_foreign(ours, found));
    std::copy_n(ours.begin() + 800, 8, found.begin() + 800);
    EXPECT_FALSE(is_foreign(ours, found));
    EXPECT_FALSE(is_foreign(ours, std::vector<std::byte>(4099)));  // nothing was written there
    EXPECT_FALSE(is_foreign(ours, ours));
}

TEST(Pattern, compare_reports_the_first_difference) {
    const std::vector<std::byte> a{std::byte{1}, std::byte{2}, std::byte{3}};
    const std::vector<std::byte> b{std::byte{1}, std::byte{9}, std::byte{8}};
    EXPECT_FALSE(compare(a, a, 100));
    const auto bad = compare(a, b, 100);
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->offset, 101);
    EXPECT_EQ(bad->expected, 2U);
    EXPECT_EQ(bad->found, 9U);
    EXPECT_EQ(bad->wrong_bytes, 2);
}

}  // namespace
}  // namespace effio
