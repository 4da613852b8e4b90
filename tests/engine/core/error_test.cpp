// SPDX-License-Identifier: BSD-3-Clause
#include "core/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

namespace effio {
namespace {

TEST(Error, exit_codes_are_the_documented_numbers) {
    const std::vector<std::pair<int, std::string_view>> documented{
        {0, "done"},        {1, "data_errors"}, {2, "usage"},       {3, "io_error"},
        {4, "interrupted"}, {5, "hung"},        {6, "environment"}, {7, "results"}};
    const auto table = exit_codes();
    ASSERT_EQ(table.size(), documented.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        EXPECT_EQ(static_cast<int>(table[i].code), documented[i].first);
        EXPECT_EQ(table[i].name, documented[i].second);
        EXPECT_EQ(name(table[i].code), documented[i].second);
        EXPECT_FALSE(table[i].meaning.empty());
    }
}

TEST(Error, the_more_severe_of_two_outcomes_wins_whatever_their_order) {
    const std::vector<ExitCode> ascending{
        ExitCode::done,  ExitCode::results,     ExitCode::data_errors, ExitCode::interrupted,
        ExitCode::usage, ExitCode::environment, ExitCode::io_error,    ExitCode::hung};
    for (std::size_t a = 0; a < ascending.size(); ++a) {
        for (std::size_t b = 0; b < ascending.size(); ++b) {
            EXPECT_EQ(worse(ascending[a], ascending[b]), ascending[std::max(a, b)]);
        }
    }
}

TEST(Error, text_says_what_where_and_who) {
    Error e = system_error("pwrite", "/d/f", ENOSPC, 4096);
    e.rank = 3;
    e.host = "n07";
    EXPECT_EQ(e.text(), "pwrite /d/f at byte 4096: No space left on device (rank 3 on n07)");
    EXPECT_EQ(e.exit_code, ExitCode::io_error);
    EXPECT_EQ(e.system_code, ENOSPC);
    EXPECT_EQ(usage_error("--x: bad").text(), "--x: bad");
    EXPECT_EQ(usage_error("--x: bad").exit_code, ExitCode::usage);
    EXPECT_EQ(environment_error("sim", "no node").text(), "sim: no node");
    EXPECT_EQ(environment_error("sim", "no node").exit_code, ExitCode::environment);
    EXPECT_EQ(io_error("", "/d", "gone").text(), "/d: gone");
}

TEST(Error, a_result_is_a_value_or_a_reason) {
    const Result<std::string> good = std::string("x");
    const Result<std::string> bad = usage_error("why");
    EXPECT_TRUE(good);
    EXPECT_EQ(*good, "x");
    EXPECT_EQ(good->size(), 1U);
    EXPECT_FALSE(bad);
    EXPECT_EQ(bad.error().cause, "why");
    EXPECT_TRUE(Status());
    EXPECT_FALSE(Status(usage_error("why")));
}

}  // namespace
}  // namespace effio
