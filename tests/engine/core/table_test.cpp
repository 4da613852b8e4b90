// SPDX-License-Identifier: BSD-3-Clause
#include "core/table.hpp"

#include <gtest/gtest.h>

namespace effio {
namespace {

TEST(Table, columns_are_as_wide_as_their_widest_cell) {
    Table table({{"pattern", Table::Align::left}, {"MB/s"}, {"", Table::Align::left}});
    table.row({"scatter", "1234.5", "cut"});
    table.rule();
    table.row({"seg", "7"});
    EXPECT_EQ(table.text(2),
              "  pattern    MB/s\n"
              "  -------  ------  ---\n"
              "  scatter  1234.5  cut\n"
              "  -------  ------  ---\n"
              "  seg           7\n");
}

TEST(Table, letters_count_not_bytes) {
    Table table({{"größe", Table::Align::left}, {"n"}});
    table.row({"µ", "1"});
    EXPECT_EQ(table.text(),
              "größe  n\n"
              "-----  -\n"
              "µ      1\n");
}

TEST(Table, text_is_broken_at_blanks) {
    EXPECT_EQ(wrapped("one two three four", 9, 4), "one two\n    three\n    four");
    EXPECT_EQ(wrapped("unbreakable word", 4, 2), "unbreakable\n  word");
    EXPECT_EQ(wrapped("", 10, 2), "");
    EXPECT_EQ(wrapped("ää bb", 5, 0), "ää bb");
}

}  // namespace
}  // namespace effio
