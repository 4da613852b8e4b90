// SPDX-License-Identifier: BSD-3-Clause
// What the buffers hold and what the data check sees (docs/definitions/b-eff-io.md, Marks).
#include "benchmarks/b_eff_io/buffers.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace effio::b_eff_io {
namespace {

/// A row of `chunks` chunks of 32 bytes a call.
Row row_of(int number, int chunks) {
    Row row;
    row.number = number;
    row.chunk = 32;
    row.memory = 32L * chunks;
    return row;
}

std::vector<double> doubles(std::span<const std::byte> bytes) {
    std::vector<double> out(bytes.size() / 8);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

/// What a file would give back: the write buffer, copied.
void hand_over(Buffers& buffers, const Row& row) {
    const auto from = buffers.to_write(row);
    std::copy(from.begin(), from.end(), buffers.to_read(row).begin());
}

TEST(Buffers, begin_as_defined) {
    Buffers buffers(64, Buffers::Fill::definition, 3);
    EXPECT_EQ(doubles(buffers.to_write(row_of(1, 2))),
              (std::vector<double>{0, -2, -4, -6, -8, -10, -12, -14}));
    EXPECT_EQ(doubles(buffers.to_read(row_of(1, 2))),
              (std::vector<double>{-1, -3, -5, -7, -9, -11, -13, -15}));
}

TEST(Buffers, marks_are_in_the_first_and_the_last_double_of_each_chunk) {
    Buffers buffers(64, Buffers::Fill::definition, 0);
    const Row row = row_of(4, 2);
    buffers.mark({row, Access::rewrite}, 3);
    // 1e7 * 3 + 1000 * i + 10 * 4 + 1 (rewrite) + 1 or 6, with i = 0 and 4.
    EXPECT_EQ(doubles(buffers.to_write(row)),
              (std::vector<double>{30000042, -2, -4, 30000047, 30004042, -10, -12, 30004047}));
}

// Pieces of two doubles with a gap of one: memory [0 1 - 2 3 - 4 5 - 6 7].
TEST(Buffers, marks_are_placed_in_data_that_are_apart_in_memory) {
    Buffers buffers(64, Buffers::Fill::definition, 0, {}, {16, 8});
    const Row row = row_of(4, 2);
    buffers.mark_spaced({row, Access::rewrite}, 3);
    const auto memory = doubles(buffers.spaced_to_write(row).memory);
    const double gap = std::bit_cast<double>(0x5a5a5a5a5a5a5a5aULL);
    EXPECT_EQ(memory, (std::vector<double>{30000042, -2, gap, -4, 30000047, gap, 30004042, -10, gap,
                                           -12, 30004047}));
    const auto from = buffers.spaced_to_write(row).memory;
    std::copy(from.begin(), from.end(), buffers.spaced_to_read(row).memory.begin());
    std::optional<WrongChunk> wrong;
    EXPECT_EQ(buffers.check_spaced({row, Access::rewrite}, 3, wrong), 0);
    EXPECT_EQ(buffers.check_spaced({row, Access::rewrite}, 4, wrong), 2);
    EXPECT_EQ(doubles(buffers.gathered(row)),
              (std::vector<double>{30000042, -2, -4, 30000047, 30004042, -10, -12, 30004047}));
    EXPECT_TRUE(buffers.gaps_are_intact(row));
    buffers.spaced_to_read(row).memory[16] = std::byte{1};
    EXPECT_FALSE(buffers.gaps_are_intact(row));
}

TEST(Buffers, right_marks_pass_the_check) {
    Buffers buffers(64, Buffers::Fill::definition, 0);
    const Row row = row_of(4, 2);
    buffers.mark({row, Access::write}, 5);
    hand_over(buffers, row);
    std::optional<WrongChunk> wrong;
    EXPECT_EQ(buffers.check({row, Access::write}, 5, wrong), 0);
    EXPECT_FALSE(wrong);
}

TEST(Buffers, data_of_another_call_row_or_access_are_wrong_in_every_chunk) {
    Buffers buffers(64, Buffers::Fill::definition, 0);
    const Row row = row_of(4, 2);
    buffers.mark({row, Access::write}, 5);
    hand_over(buffers, row);
    for (const auto& [number, access, call] :
         {std::tuple(4, Access::write, 6), std::tuple(5, Access::write, 5),
          std::tuple(4, Access::rewrite, 5)}) {
        std::optional<WrongChunk> wrong;
        EXPECT_EQ(buffers.check({row_of(number, 2), access}, call, wrong), 2);
        EXPECT_TRUE(wrong);
    }
}

TEST(Buffers, a_wrong_chunk_counts_once_and_is_reported_with_its_place) {
    Buffers buffers(96, Buffers::Fill::definition, 0);
    const Row row = row_of(0, 3);
    buffers.mark({row, Access::write}, 0);
    hand_over(buffers, row);
    const double stale = -1;
    auto read = buffers.to_read(row);
    std::memcpy(&read[32], &stale, 8);  // the first double of chunk 1
    std::memcpy(&read[56], &stale, 8);  // and its last
    std::memcpy(&read[88], &stale, 8);  // the last double of chunk 2
    std::optional<WrongChunk> wrong;
    EXPECT_EQ(buffers.check({row, Access::write}, 0, wrong), 2);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->i, 4);
    EXPECT_EQ(wrong->found_first, -1);
    EXPECT_EQ(wrong->found_last, -1);
    EXPECT_EQ(wrong->expected_first, 4001);
    EXPECT_EQ(wrong->expected_last, 4006);
}

TEST(Buffers, a_chunk_of_one_double_holds_its_last_mark) {
    Buffers buffers(16, Buffers::Fill::definition, 0);
    Row row = row_of(33, 0);
    row.chunk = row.memory = 8;
    buffers.mark({row, Access::write}, 0);
    hand_over(buffers, row);
    EXPECT_EQ(doubles(buffers.to_write(row)), (std::vector<double>{336}));
    std::optional<WrongChunk> wrong;
    EXPECT_EQ(buffers.check({row, Access::write}, 0, wrong), 0);
}

TEST(Buffers, a_row_of_no_bytes_has_neither_marks_nor_errors) {
    Buffers buffers(16, Buffers::Fill::definition, 0);
    Row row = row_of(33, 0);
    row.chunk = 0;
    buffers.mark({row, Access::write}, 0);
    std::optional<WrongChunk> wrong;
    EXPECT_EQ(buffers.check({row, Access::write}, 0, wrong), 0);
    EXPECT_TRUE(buffers.to_write(row).empty());
}

TEST(Buffers, random_data_differ_between_ranks_and_not_between_runs) {
    const Row row = row_of(1, 4);
    const auto of_rank = [&](int rank) {
        return doubles(Buffers(128, Buffers::Fill::random, rank).to_write(row));
    };
    EXPECT_EQ(of_rank(0), of_rank(0));
    EXPECT_NE(of_rank(0), of_rank(1));
}

TEST(Buffers, random_data_compress_as_far_as_requested) {
    const DataShape quarter{4, 1};
    Row row = row_of(1, 1);
    row.memory = 512;
    const auto bits = [](double word) { return std::bit_cast<std::uint64_t>(word); };
    const auto words = doubles(Buffers(512, Buffers::Fill::random, 0, quarter).to_write(row));
    ASSERT_EQ(words.size(), 64U);
    // Of the 64 words of a sector, 16 are random and the others repeat one word.
    for (std::size_t i = 17; i < 64; ++i) {
        EXPECT_EQ(bits(words[i]), bits(words[16]));
    }
    EXPECT_NE(bits(words[1]), bits(words[0]));
}

TEST(Buffers, what_stood_in_the_buffer_before_a_row_is_known_afterwards) {
    // Rows leave the marks of their last call behind; a full verification needs them all.
    Buffers buffers(64, Buffers::Fill::definition, 0);
    buffers.mark({row_of(1, 2), Access::write}, 0);
    buffers.mark({row_of(1, 2), Access::write}, 1);
    buffers.remember(0, Access::write, row_of(1, 2), 2);
    const auto after_row_1 = doubles(buffers.to_write(row_of(1, 2)));
    buffers.mark({row_of(2, 1), Access::write}, 0);
    buffers.remember(0, Access::write, row_of(2, 1), 1);
    const auto after_row_2 = doubles(buffers.to_write(row_of(1, 2)));
    buffers.mark({row_of(1, 2), Access::rewrite}, 0);
    buffers.remember(0, Access::rewrite, row_of(1, 2), 1);

    EXPECT_EQ(buffers.before(0, Access::write, row_of(1, 2)),
              (std::vector<double>{0, -2, -4, -6, -8, -10, -12, -14}));
    EXPECT_EQ(buffers.before(0, Access::write, row_of(2, 1)), after_row_1);
    EXPECT_EQ(buffers.before(0, Access::rewrite, row_of(1, 2)), after_row_2);
}

}  // namespace
}  // namespace effio::b_eff_io
