// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/neighbors.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace effio {
namespace {

struct NeighborsTest : testing::Test {
    NeighborsTest() { std::ofstream(path_).flush(); }
    ~NeighborsTest() override { std::filesystem::remove(path_); }

    Neighbors group(std::size_t number) const {
        return {path_, {"group 1 (ior)", "group 2 (mdtest)"}, number - 1, 60};
    }
    std::string path_ = testing::TempDir() + "/neighbors-" + std::to_string(getpid());
    Progress progress_;
};

TEST_F(NeighborsTest, an_end_of_another_group_is_not_the_end_of_the_job) {
    auto first = group(1);
    EXPECT_FALSE(first.look());
    group(2).end(ExitCode::io_error, "no space");
    EXPECT_FALSE(first.look());
    EXPECT_EQ(first.cause(), "");
    EXPECT_EQ(first.reports()[1].ended, ExitCode::io_error);
    EXPECT_EQ(first.reports()[1].reason, "no space");
    EXPECT_FALSE(first.reports()[0].ended);
}

TEST_F(NeighborsTest, a_group_that_ends_the_job_is_heard_by_the_others_alone) {
    auto first = group(1);
    auto second = group(2);
    second.call_off(ExitCode::hung, "no progress");
    EXPECT_TRUE(first.look());
    EXPECT_TRUE(first.called_off());
    EXPECT_EQ(first.cause(), "group 2 (mdtest) ended the job: no progress");
    EXPECT_FALSE(second.look());
    EXPECT_EQ(second.cause(), "");
}

TEST_F(NeighborsTest, who_ends_the_job_waits_for_the_last_words_of_the_others) {
    const auto first = group(1);
    const auto second = group(2);
    second.call_off(ExitCode::hung, "no progress");
    std::jthread other([&] { first.end(ExitCode::interrupted, second.name() + " ended the job"); });
    second.wait_for_others(progress_);
    EXPECT_EQ(first.reports()[0].ended, ExitCode::interrupted);
    second.end(ExitCode::hung, "no progress");
    EXPECT_EQ(second.wait_for_all(progress_, ExitCode::done), ExitCode::hung);
    EXPECT_EQ(first.wait_for_all(progress_, ExitCode::interrupted), ExitCode::hung);
}

TEST_F(NeighborsTest, a_group_without_a_sign_of_life_is_called_off_by_another_one) {
    auto first = group(1);
    auto second = group(2);
    const auto called_off = [&] { return first.reports()[1].called_off; };
    first.beat();
    // Not seen yet: a group that has never given a sign prepares itself.
    first.find_frozen(0);
    first.find_frozen(0);
    EXPECT_FALSE(called_off());
    second.beat();
    first.find_frozen(0);  // with a limit of nothing even a new one is too old
    EXPECT_EQ(called_off(), ExitCode::hung);
    EXPECT_TRUE(first.look());
    EXPECT_NE(first.cause().find("group 2 (mdtest) ended the job: no sign of life for 0 s"),
              std::string::npos)
        << first.cause();
    std::filesystem::remove(path_ + ".alive");
}

TEST_F(NeighborsTest, signs_of_life_and_ends_are_not_a_reason_to_call_off) {
    auto first = group(1);
    auto second = group(2);
    for (int i = 0; i < 3; ++i) {
        second.beat();
        first.find_frozen(3600);
    }
    EXPECT_FALSE(first.reports()[1].called_off);
    second.end(ExitCode::done, "");
    first.find_frozen(0);
    EXPECT_FALSE(first.reports()[1].called_off);
    std::filesystem::remove(path_ + ".alive");
}

TEST_F(NeighborsTest, two_that_end_the_job_do_not_wait_for_each_others_files) {
    const auto first = group(1);
    const auto second = group(2);
    first.call_off(ExitCode::hung, "a");
    second.call_off(ExitCode::hung, "b");
    first.wait_for_others(progress_);
    second.wait_for_others(progress_);
    EXPECT_FALSE(first.reports()[0].ended);
}

TEST_F(NeighborsTest, what_is_half_written_or_strange_is_skipped) {
    group(2).end(ExitCode::done, "");
    std::ofstream(path_, std::ios::app) << "{\"event\":\"end\",\"group\":7,\"exit_code\":5}\n[1]\n"
                                        << "{\"event\":\"call_off\",\"grou";
    auto first = group(1);
    EXPECT_FALSE(first.look());
    EXPECT_TRUE(first.reports()[1].ended);
}

TEST_F(NeighborsTest, no_rank_waits_for_a_file_that_this_node_does_not_see) {
    const Neighbors blind(path_ + "-elsewhere", {"group 1 (ior)", "group 2 (mdtest)"}, 0, 1e9);
    blind.end(ExitCode::done, "");
    EXPECT_EQ(blind.wait_for_all(progress_, ExitCode::io_error), ExitCode::io_error);
}

}  // namespace
}  // namespace effio
