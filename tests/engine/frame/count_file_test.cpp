// SPDX-License-Identifier: BSD-3-Clause
#include "frame/count_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace effio {
namespace {

struct CountFile : testing::Test {
    std::string path = testing::TempDir() + "effio-count-" + std::to_string(getpid());

    ~CountFile() override { std::filesystem::remove(path); }
    std::string refused(const std::string& text) const {
        std::ofstream(path) << text;
        const auto read = read_count(path, "calls");
        return read ? "(accepted)" : read.error().text();
    }
};

TEST_F(CountFile, what_was_written_is_read_back) {
    ASSERT_TRUE(write_count(path, std::int64_t{1} << 40));
    const auto read = read_count(path, "calls");
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, std::int64_t{1} << 40);
    ASSERT_TRUE(write_count(path, 7));  // over a longer one
    EXPECT_EQ(*read_count(path, "calls"), 7);
}

TEST_F(CountFile, anything_but_one_number_from_1_on_is_refused) {
    for (const char* text : {"", "\n", "0", "-3", "4 5", "4x", "4.0", "9223372036854775808"}) {
        EXPECT_EQ(refused(text), path + ": holds no number of calls") << text;
    }
    EXPECT_EQ(refused(" 4\n\n"), "(accepted)");
}

TEST_F(CountFile, a_file_that_is_not_a_count_costs_no_memory) {
    // A hole of 1 TiB, and a number behind as many blanks as are read.
    std::ofstream(path) << "4";
    ASSERT_EQ(truncate(path.c_str(), off_t{1} << 40), 0);
    EXPECT_EQ(read_count(path, "calls").error().text(), path + ": holds no number of calls");
    std::string far(301, ' ');
    far.back() = '4';
    EXPECT_EQ(refused(far), path + ": holds no number of calls");
}

TEST_F(CountFile, a_link_in_its_place_is_not_written_through) {
    const std::string victim = path + "-victim";
    std::ofstream(victim) << "precious";
    std::filesystem::create_symlink(victim, path);
    const auto written = write_count(path, 7);
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().cause.find("it is a symbolic link"), std::string::npos);
    std::filesystem::remove(path);
    std::filesystem::create_hard_link(victim, path);
    ASSERT_TRUE(write_count(path, 7));
    EXPECT_EQ(*read_count(path, "calls"), 7);
    std::string kept;
    std::ifstream(victim) >> kept;
    EXPECT_EQ(kept, "precious");
    std::filesystem::remove(victim);
}

TEST_F(CountFile, a_failure_names_the_file_and_the_cause) {
    EXPECT_EQ(read_count("/nowhere/n", "calls").error().text(),
              "cannot read the count /nowhere/n: No such file or directory");
    EXPECT_EQ(write_count("/nowhere/n", 1).error().text(),
              "write the count /nowhere/n: No such file or directory");
    EXPECT_EQ(write_count("/dev/full", 1).error().text(),
              "write the count /dev/full: No space left on device");
}

}  // namespace
}  // namespace effio
