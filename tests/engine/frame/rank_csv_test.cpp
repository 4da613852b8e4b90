// SPDX-License-Identifier: BSD-3-Clause
#include "frame/rank_csv.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace effio {
namespace {

struct RankCsvFile : testing::Test {
    std::string path = testing::TempDir() + "effio-ranks-" + std::to_string(getpid()) + ".csv";

    ~RankCsvFile() override { std::filesystem::remove(path); }
    std::string written() const {
        std::ifstream in(path);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

TEST_F(RankCsvFile, is_written_anew_and_holds_each_line_at_once) {
    std::ofstream(path) << "of an earlier run, and longer than what follows\n";
    auto file = RankCsv::create(path, "a,b");
    ASSERT_TRUE(file);
    EXPECT_EQ(written(), "a,b\n");
    ASSERT_TRUE(file->add("1,2\n3,4\n"));
    EXPECT_EQ(written(), "a,b\n1,2\n3,4\n");
}

TEST_F(RankCsvFile, a_failure_names_the_file_and_the_cause) {
    const auto missing = RankCsv::create("/nowhere/r.csv", "a,b");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().text(),
              "write the file of the ranks' rates /nowhere/r.csv: No such file or directory");

    auto file = RankCsv::create(path, "a,b");
    ASSERT_TRUE(file);
    // The header has 4 bytes; more than 6 the file may not have.
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit six{6, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &six);
    const auto added = file->add("1,2\n");
    setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().cause, "File too large");
    EXPECT_EQ(added.error().path, path);
}

TEST(RankCsvRate, no_time_makes_no_rate) {
    EXPECT_EQ(rate_of(6, 2), 3);
    EXPECT_EQ(rate_of(6, 0), 0);
}

}  // namespace
}  // namespace effio
