// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/together/group_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace effio::together {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view text) {
    auto words = split_command_line(text);
    return words ? *words : Words{"refused: " + words.error().cause};
}

TEST(GroupLine, words_are_split_as_a_shell_splits_them) {
    EXPECT_EQ(split(""), Words{});
    EXPECT_EQ(split(" ior\t--dir  /a "), (Words{"ior", "--dir", "/a"}));
    EXPECT_EQ(split("--dir='a b'\"c d\"e"), (Words{"--dir=a bc de"}));
    EXPECT_EQ(split("'' \"\""), (Words{"", ""}));
    EXPECT_EQ(split(R"(a\ b \"c \\)"), (Words{"a b", "\"c", "\\"}));
    // In double quotes a backslash is one unless it takes a quote or a backslash; in single ones
    // it always is.
    EXPECT_EQ(split(R"("a\"b\\c\d" 'e\')"), (Words{R"(a"b\c\d)", R"(e\)"}));
    EXPECT_EQ(split("'\"' \"'\""), (Words{"\"", "'"}));
}

TEST(GroupLine, what_is_left_open_is_refused) {
    EXPECT_EQ(split("ior 'a"), Words{"refused: a quote (') is not closed"});
    EXPECT_EQ(split("ior \"a\\\""), Words{"refused: a quote (\") is not closed"});
    EXPECT_EQ(split("ior a\\"), Words{"refused: a backslash at the end takes nothing"});
    EXPECT_EQ(split("\"a\\"), Words{"refused: a quote (\") is not closed"});
}

TEST(GroupLine, ranks_are_before_the_first_colon) {
    const auto line = parse_group_line(" 12 : mdtest --dir /a:b");
    ASSERT_TRUE(line);
    EXPECT_EQ(line->ranks, 12);
    EXPECT_EQ(line->words, (Words{"mdtest", "--dir", "/a:b"}));
}

TEST(GroupLine, bad_lines_are_refused_with_the_form) {
    const auto cause = [](std::string_view text) {
        const auto line = parse_group_line(text);
        return line ? std::string("taken") : line.error().cause;
    };
    for (const auto* text : {"0: ior", "-1: ior", "two: ior", ": ior", "2 3: ior", "1.5: ior",
                             "2147483648: ior", "99999999999999999999: ior"}) {
        EXPECT_NE(cause(text).find("is not a positive number of ranks; \"RANKS: BENCHMARK"),
                  std::string::npos)
            << cause(text);
    }
    EXPECT_EQ(cause("4 ior"), "'4 ior' is not of the form \"RANKS: BENCHMARK [options]\"");
    EXPECT_EQ(cause("4: "), "no benchmark after the colon; \"RANKS: BENCHMARK [options]\"");
    EXPECT_EQ(cause("4: ior 'x"), "a quote (') is not closed");
}

}  // namespace
}  // namespace effio::together
