// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/results.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <vector>

#include "shared_directory.hpp"

namespace effio {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

struct World {
    Clock clock;
    Comm comm = Comm::world(clock);
    SharedDirectory directory{comm};
};

TEST(Results, a_directory_gets_a_file_with_its_own_name) {
    World w;
    auto first = Results::open(w.comm, w.directory.path(), "b-eff-io");
    auto second = Results::open(w.comm, w.directory.path() + "/", "b-eff-io");
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_NE((*first)->path(), (*second)->path());
    for (const auto& path : {(*first)->path(), (*second)->path()}) {
        EXPECT_TRUE(std::filesystem::exists(path));
        const std::string name = std::filesystem::path(path).filename();
        EXPECT_TRUE(
            std::regex_match(name, std::regex(R"(effio-b-eff-io-\d{8}T\d{6}Z(-\d+)?\.jsonl)")))
            << name;
    }
    // All ranks know the same name.
    std::string mine = (*first)->path();
    w.comm.broadcast(mine);
    EXPECT_EQ(mine, (*first)->path());
}

TEST(Results, an_existing_file_is_never_overwritten) {
    World w;
    const std::string path = w.directory / "r.jsonl";
    ASSERT_TRUE(Results::open(w.comm, path, "b"));
    const auto again = Results::open(w.comm, path, "b");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().exit_code, ExitCode::usage);
    EXPECT_NE(again.error().text().find("exists already"), std::string::npos);
    EXPECT_NE(again.error().text().find(path), std::string::npos);
}

TEST(Results, a_place_that_cannot_be_written_is_an_error_on_all_ranks) {
    World w;
    for (const char* where : {"no/such/directory/r.jsonl", "no/such/directory/"}) {
        const auto results = Results::open(w.comm, w.directory / where, "b");
        ASSERT_FALSE(results);
        EXPECT_EQ(results.error().exit_code, ExitCode::results);
        EXPECT_NE(results.error().text().find("No such file"), std::string::npos);
    }
}

TEST(Results, only_the_root_writes) {
    World w;
    auto results = std::move(*Results::open(w.comm, w.directory / "r", "b"));
    Figure f;
    f.name = std::to_string(w.comm.rank());
    results->recorder().figure(f);
    w.comm.barrier();
    const auto lines = lines_of(results->path());
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(parse_json(lines[0])["name"], "0");
    EXPECT_FALSE(results->failed());
}

TEST(Results, any_rank_can_write_the_last_words_once) {
    World w;
    for (int speaker = 0; speaker < w.comm.size(); ++speaker) {
        auto results =
            std::move(*Results::open(w.comm, w.directory / ("r" + std::to_string(speaker)), "b"));
        if (w.comm.is_root()) results->recorder().figure({});
        w.comm.barrier();
        End end;
        end.status = ExitCode::hung;
        end.reason = "rank " + std::to_string(speaker);
        if (w.comm.rank() == speaker) results->end_from_any_rank(end);
        w.comm.barrier();
        results->end_from_any_rank({});  // too late, from all ranks
        w.comm.barrier();
        const auto lines = lines_of(results->path());
        ASSERT_EQ(lines.size(), 2U) << "speaker " << speaker;
        const Json last = parse_json(lines[1]);
        EXPECT_EQ(last["schema"], result_schema);
        EXPECT_EQ(last["kind"], "end");
        EXPECT_EQ(last["status"], "hung");
        EXPECT_EQ(last["reason"], "rank " + std::to_string(speaker));
        w.comm.barrier();
    }
}

TEST(Results, last_words_after_half_a_line_are_on_their_own_line) {
    World w;
    if (w.comm.size() == 1) GTEST_SKIP() << "the writer itself finishes its lines";
    auto results = std::move(*Results::open(w.comm, w.directory / "r", "b"));
    if (w.comm.is_root()) {
        std::ofstream(results->path(), std::ios::app) << R"({"schema":"effio-result/1.3","ki)";
    }
    w.comm.barrier();
    if (w.comm.rank() == w.comm.size() - 1) results->end_from_any_rank({});
    w.comm.barrier();
    const auto lines = lines_of(results->path());
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(parse_json(lines[1])["kind"], "end");
}

TEST(Results, a_file_that_cannot_be_written_is_remembered) {
    auto sink = FileSink::create("/dev/full");
    // /dev/full exists, and what exists is refused.
    ASSERT_FALSE(sink);
    EXPECT_EQ(sink.error().exit_code, ExitCode::usage);
}

TEST(Results, a_writer_that_was_frozen_adds_nothing_behind_the_end_of_others) {
    World w;
    const std::string path = w.directory / ("r" + std::to_string(w.comm.rank()));
    const auto sink = std::move(*FileSink::create(path));
    sink->line("run\n");
    sink->line("first\n");
    std::ofstream(path, std::ios::app) << "end\n";
    sink->line("second\n");
    sink->line("third\n");
    EXPECT_EQ(lines_of(path), (std::vector<std::string>{"run", "first", "end"}));
    EXPECT_FALSE(sink->failed());
}

TEST(Results, the_time_of_day_is_utc_in_iso_form) {
    EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
}

}  // namespace
}  // namespace effio
