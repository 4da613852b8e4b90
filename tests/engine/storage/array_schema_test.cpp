// SPDX-License-Identifier: BSD-3-Clause
// Definitions of array files, and where Fortran records stand. Numbers derived manually.
#include "storage/array_schema.hpp"

#include <gtest/gtest.h>

#include "storage/record_layout.hpp"

namespace effio {
namespace {

/// Three writers with 2, 0 and 3 of five rows.
ArraySchema schema() {
    ArraySchema s;
    s.dimensions = {{"rows", 5}, {"x", 4}, {"names", 2}};
    s.variables = {{"field", ArrayType::real64, {0, 1}},
                   {"labels", ArrayType::text, {2}, 10},
                   {"mark", ArrayType::int32, {0}}};
    s.shares = {0, 3, [](int rank) { return std::int64_t{rank == 0 ? 0 : rank == 3 ? 5 : 2}; }};
    return s;
}

TEST(ArraySchema, counts_bytes_and_shares) {
    const ArraySchema s = schema();
    EXPECT_EQ(s.bytes(0), 5 * 4 * 8);
    EXPECT_EQ(s.bytes(1), 20);
    EXPECT_EQ(s.bytes(), 160 + 20 + 20);
    EXPECT_EQ(s.share(0, 2), (Slab{{2, 0}, {3, 4}}));
    EXPECT_EQ(s.share(0, 1), (Slab{{2, 0}, {0, 4}}));
    // What is not shared out belongs to rank 0.
    EXPECT_EQ(s.share(1, 0), (Slab{{0}, {2}}));
    EXPECT_EQ(s.bytes(1, s.share(1, 2)), 0);
    EXPECT_EQ(s.share_bytes(0), 2 * 32 + 20 + 2 * 4);
    EXPECT_EQ(s.share_bytes(1), 0);
    EXPECT_EQ(s.find("mark"), 2U);
    EXPECT_FALSE(s.find("Mark"));
}

TEST(ArraySchema, finds_the_writer_of_a_row_past_empty_shares) {
    const ArraySchema s = schema();
    const std::vector<int> expected{0, 0, 2, 2, 2};
    for (int row = 0; row < 5; ++row) {
        EXPECT_EQ(s.shares.writer_of(row), expected[static_cast<std::size_t>(row)]) << row;
    }
}

TEST(ArraySchema, refuses_slabs_that_are_not_inside) {
    const ArraySchema s = schema();
    EXPECT_TRUE(s.check(0, {{0, 0}, {5, 4}}));
    EXPECT_TRUE(s.check(0, {{5, 0}, {0, 4}}));
    for (const Slab& bad :
         {Slab{{0, 0}, {6, 4}}, Slab{{1, 0}, {5, 4}}, Slab{{-1, 0}, {1, 4}}, Slab{{0}, {5}},
          Slab{{0, 0}, {1, -1}}, Slab{{9223372036854775807, 0}, {9223372036854775807, 4}}}) {
        const auto checked = s.check(0, bad);
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().exit_code, ExitCode::usage);
    }
}

TEST(ArraySchema, a_run_of_elements_is_a_slab_or_none) {
    ArraySchema s;
    s.dimensions = {{"blocks", 4}, {"transfers", 3}, {"bytes", 10}};
    s.variables = {{"data", ArrayType::byte, {0, 1, 2}}};
    // A transfer, a part of one, two transfers of a block, a block, three blocks.
    EXPECT_EQ(s.run(0, 50, 10), (Slab{{1, 2, 0}, {1, 1, 10}}));
    EXPECT_EQ(s.run(0, 53, 4), (Slab{{1, 2, 3}, {1, 1, 4}}));
    EXPECT_EQ(s.run(0, 40, 20), (Slab{{1, 1, 0}, {1, 2, 10}}));
    EXPECT_EQ(s.run(0, 60, 30), (Slab{{2, 0, 0}, {1, 3, 10}}));
    EXPECT_EQ(s.run(0, 30, 90), (Slab{{1, 0, 0}, {3, 3, 10}}));
    EXPECT_EQ(s.run(0, 0, 120), s.whole(0));
    EXPECT_EQ(s.run(0, 7, 0), (Slab{{0, 0, 0}, {0, 0, 0}}));
    // From one transfer, or block, into the next; behind the end.
    EXPECT_FALSE(s.run(0, 55, 10));
    EXPECT_FALSE(s.run(0, 50, 20));
    EXPECT_FALSE(s.run(0, 50, 15));
    EXPECT_FALSE(s.run(0, 120, 10));
    EXPECT_FALSE(s.run(0, 110, 20));
    EXPECT_FALSE(s.run(0, 90, 60));
}

TEST(ArraySchema, knows_where_a_slab_ends) {
    const ArraySchema s = schema();
    EXPECT_EQ(s.end_of(0, s.whole(0)), 5 * 4 * 8);
    EXPECT_EQ(s.end_of(0, {{1, 2}, {2, 1}}), (2 * 4 + 3) * 8);
    EXPECT_EQ(s.end_of(0, {{4, 0}, {0, 4}}), 0);
    EXPECT_EQ(s.end_of(1, {{1}, {1}}), 20);
}

TEST(ArraySchema, elements_may_be_strings_and_records) {
    ArrayVariable v{"parameters",
                    ArrayType::int32,
                    {0},
                    1,
                    {{"total blocks", ArrayType::int32}, {"time", ArrayType::real64}}};
    EXPECT_EQ(v.element_bytes(), 12);
    v.record.clear();
    v.type = ArrayType::text;
    v.text_length = 40;
    EXPECT_EQ(v.element_bytes(), 40);
}

TEST(RecordLayout, one_record_has_its_length_before_and_after) {
    // docs/definitions/libraries.md: 96^3 doubles, nine variables: 63,701,064 bytes.
    const RecordLayout record(std::int64_t{96} * 96 * 96 * 8);
    EXPECT_EQ(record.subrecords(), 1);
    EXPECT_EQ(9 * record.bytes(), 63701064);
    const auto s = record.subrecord(0);
    EXPECT_EQ(s.leading, 7077888);
    EXPECT_EQ(s.trailing, 7077888);
    EXPECT_EQ(s.data_at, 4);
    EXPECT_EQ(s.trailing_at, 4 + 7077888);
}

TEST(RecordLayout, long_records_are_split_and_signs_show_so) {
    const RecordLayout record(25, 10);
    EXPECT_EQ(record.subrecords(), 3);
    EXPECT_EQ(record.bytes(), 25 + 3 * 8);
    EXPECT_EQ(record.subrecord(0).leading, -10);  // another one follows
    EXPECT_EQ(record.subrecord(0).trailing, 10);
    EXPECT_EQ(record.subrecord(1).leading, -10);
    EXPECT_EQ(record.subrecord(1).trailing, -10);  // one came before
    EXPECT_EQ(record.subrecord(2).leading, 5);
    EXPECT_EQ(record.subrecord(2).trailing, -5);
    EXPECT_EQ(record.subrecord(2).data_at, 2 * 18 + 4);
    EXPECT_EQ(record.subrecord_of(20), 2);
    EXPECT_EQ(RecordLayout(20, 10).subrecords(), 2);
    EXPECT_EQ(RecordLayout(0, 10).bytes(), 8);
}

}  // namespace
}  // namespace effio
