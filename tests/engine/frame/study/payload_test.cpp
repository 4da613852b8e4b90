// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/payload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "frame/study/groups.hpp"

namespace effio::study {
namespace {

/// Three pieces of 16 bytes with holes of 8 in memory.
class StudyPayload : public testing::Test {
  protected:
    StudyPayload() : pieces_(0, Strides{16, {{3, 40}}}) {
        cell_.data = Pieces{.of_rank = {}, .memory_spacing = 8};
    }

    Cell cell_;
    Addresses pieces_;
};

TEST_F(StudyPayload, pieces_are_apart_in_memory) {
    Payload payload(cell_, pieces_, {0, 0, {}});
    const Spaced all = payload.all();
    EXPECT_EQ(all.memory.size(), 3U * 16 + 2 * 8);
    EXPECT_EQ(all.bytes(), 48);
    EXPECT_FALSE(all.is_contiguous());
    for (std::int64_t n = 0; n < 3; ++n) {
        EXPECT_EQ(payload.piece(n).data(), all.memory.data() + 24 * n);
        EXPECT_EQ(all.at(n).data(), payload.piece(n).data());
    }
    EXPECT_EQ(Payload::bytes(cell_, pieces_), 64);
    cell_.passes = {modify_pass()};
    EXPECT_EQ(Payload::bytes(cell_, pieces_), 128);
}

TEST_F(StudyPayload, what_is_read_to_be_modified_is_not_what_is_written) {
    Payload payload(cell_, pieces_, {5, 0, {}});
    payload.prepare_to_modify(2);
    const Pattern before(1, 5);
    const Pattern after(2, 5);
    for (std::int64_t n = 0; n < 3; ++n) {
        EXPECT_FALSE(after.check(payload.source(n), 40 * n));
        before.fill(payload.piece(n), 40 * n);
        EXPECT_FALSE(payload.check(n, 1));
        EXPECT_TRUE(payload.check(n, 2));
    }
}

TEST_F(StudyPayload, numbers_are_whole_and_show_file_place_and_generation) {
    cell_.content = Content::numbers;
    Payload payload(cell_, pieces_, {5, 0, {}});
    payload.prepare_to_write(3);
    EXPECT_EQ(payload.piece(1).data(), payload.piece(0).data() + 24);
    for (std::int64_t n = 0; n < 3; ++n) {
        EXPECT_FALSE(payload.check(n, 3));
        EXPECT_TRUE(payload.check(n, 4));
        for (const std::size_t at : {std::size_t{0}, std::size_t{8}}) {
            double number = 0;
            std::memcpy(&number, payload.piece(n).data() + at, sizeof number);
            EXPECT_EQ(number, std::floor(number));
            EXPECT_GE(number, 1);
            EXPECT_LE(number, std::pow(2, 52));
            // The word of the pattern at this place, by its upper 52 bits.
            const auto index = static_cast<std::uint64_t>(40 * n) / 8 + at / 8;
            EXPECT_EQ(number, 1.0 + static_cast<double>(Pattern(3, 5).word(index) >> 12));
        }
    }
    payload.piece(2)[9] ^= std::byte{1};
    const auto wrong = payload.check(2, 3);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->offset, 2 * 40 + 9);
    Payload other(cell_, pieces_, {6, 0, {}});
    other.prepare_to_write(3);
    std::memcpy(payload.piece(0).data(), other.piece(0).data(), 16);
    EXPECT_TRUE(payload.check(0, 3));
}

TEST_F(StudyPayload, bytes_of_either_generation_are_right_where_ranks_overlap) {
    Payload payload(cell_, pieces_, {0, 0, {}});
    payload.prepare_to_modify(2);
    const auto piece = payload.piece(1);
    Pattern(1, 0).fill(piece, 40);
    EXPECT_FALSE(payload.check_either(1, 1));
    Pattern(2, 0).fill(piece.first(10), 40);  // another rank is at work
    EXPECT_FALSE(payload.check_either(1, 1));
    EXPECT_TRUE(payload.check(1, 1));
    piece[12] = ~piece[12];
    const auto wrong = payload.check_either(1, 1);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->offset, 52);
    EXPECT_EQ(wrong->wrong_bytes, 1);
}

/// Four pieces of 4 KiB, one behind the other.
class StampedPayload : public testing::Test {
  protected:
    StampedPayload() : pieces_(0, Strides{4096, {{4, 4096}}}) { cell_.content = Content::stamped; }

    Cell cell_;
    Addresses pieces_;
};

TEST_F(StampedPayload, reads_share_one_place_unless_they_are_kept) {
    Payload payload(cell_, pieces_, {});
    EXPECT_EQ(payload.to_read(0, 0).data(), payload.to_read(3, 3).data());
    EXPECT_FALSE(payload.keeps(1));
}

TEST_F(StampedPayload, what_timed_reads_return_is_kept_as_far_as_memory_goes) {
    Payload all(cell_, pieces_, {}, 16384, 16384);
    EXPECT_TRUE(all.keeps(16384));
    EXPECT_EQ(all.to_read(3, 1).data(), all.to_read(0, 0).data() + 12288);
    Payload some(cell_, pieces_, {}, 10000, 16384);
    EXPECT_TRUE(some.keeps(8192));
    EXPECT_FALSE(some.keeps(8193));
    EXPECT_EQ(some.to_read(1, 1).data(), some.to_read(0, 0).data() + 4096);
    // Calls beyond share the place behind what is kept.
    EXPECT_EQ(some.to_read(2, 2).data(), some.to_read(0, 0).data() + 8192);
    EXPECT_EQ(some.to_read(3, 3).data(), some.to_read(2, 2).data());
    EXPECT_EQ(Payload::bytes(cell_, pieces_, 10000, 16384), 16384 + StampedPattern::period);
    EXPECT_EQ(Payload::bytes(cell_, pieces_), 8192 + StampedPattern::period);
}

TEST(StudyGroups, a_write_that_is_written_again_before_any_read_is_known) {
    std::vector<Cell> cells(4);
    for (Cell& cell : cells) {
        cell.file = "data";
        cell.data = Pieces{[](int /*rank*/) { return Addresses(0, Strides{8, {{1, 8}}}); }};
    }
    cells[0].passes = {write_pass(), write_pass("re-write")};
    cells[1].passes = {read_pass()};
    cells[2].passes = {write_pass()};
    cells[3].passes = {modify_pass()};
    using Next = std::vector<NextPass>;
    EXPECT_EQ(next_passes(cells, cells[0]), (Next{NextPass::writes, NextPass::reads}));
    EXPECT_EQ(next_passes(cells, cells[1]), Next{NextPass::writes});
    EXPECT_EQ(next_passes(cells, cells[2]), Next{NextPass::reads});
    EXPECT_EQ(next_passes(cells, cells[3]), Next{NextPass::none});
    cells[1].file = "other";
    EXPECT_EQ(next_passes(cells, cells[0]), (Next{NextPass::writes, NextPass::writes}));
}

}  // namespace
}  // namespace effio::study
