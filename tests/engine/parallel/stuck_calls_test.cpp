// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/stuck_calls.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "shared_directory.hpp"

namespace effio {
namespace {

StuckCall call_of(int rank, const std::string& call, bool waits, double seconds = 60) {
    return {rank, "n" + std::to_string(rank / 2), call, "write", waits, seconds};
}

TEST(StuckCalls, equal_calls_are_one_entry_and_those_that_wait_come_last) {
    const Json found =
        distinct_calls({call_of(3, "MPI_Barrier", true, 60.5), call_of(0, "MPI_Barrier", true, 61),
                        call_of(2, "pwrite", false), call_of(1, "MPI_Barrier", true)});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0]["call"], "pwrite");
    EXPECT_EQ(found[0]["ranks"], Json::array({2}));
    EXPECT_EQ(found[0]["waits"], false);
    EXPECT_EQ(found[1]["call"], "MPI_Barrier");
    EXPECT_EQ(found[1]["ranks"], Json::array({0, 1, 3}));
    EXPECT_EQ(found[1]["hosts"], Json::array({"n0", "n1"}));
    EXPECT_EQ(found[1]["silent_seconds"], 61.0);
    EXPECT_TRUE(distinct_calls({}).empty());
}

TEST(StuckCalls, noted_calls_are_taken_once_and_no_file_is_left) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    const SharedDirectory directory(comm);
    const std::string result = directory / "r.jsonl";
    std::ofstream(result) << "{\"kind\":\"run\"}\n";
    note_stuck_call(result, call_of(0, "pwrite", false));
    note_stuck_call(result, call_of(1, "MPI_Barrier", true));
    std::ofstream(calls_path(result), std::ios::app) << "{\"rank\": 2, \"ho";  // cut off
    const auto calls = take_stuck_calls(result);
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls[0].call, "pwrite");
    EXPECT_EQ(calls[1].rank, 1);
    EXPECT_TRUE(calls[1].waits);
    EXPECT_FALSE(std::filesystem::exists(calls_path(result)));
    EXPECT_TRUE(take_stuck_calls(result).empty());

    std::ofstream(result, std::ios::app) << "{\"kind\":\"end\"}\n";
    note_stuck_call(result, call_of(2, "pwrite", false));  // too late
    EXPECT_FALSE(std::filesystem::exists(calls_path(result)));
}

}  // namespace
}  // namespace effio
