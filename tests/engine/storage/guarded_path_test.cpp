// SPDX-License-Identifier: BSD-3-Clause
// What somebody puts in the place of a file that is about to be written.
#include "storage/guarded_path.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "own_directory.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

class GuardedPathTest : public testing::Test {
  protected:
    GuardedPathTest() { std::ofstream(victim()) << "precious"; }

    std::string in(const std::string& name) const { return place_ / name; }
    std::string victim() const { return in("victim"); }
    std::string of_victim() const {
        std::ifstream file(victim());
        return {std::istreambuf_iterator<char>(file), {}};
    }

    OwnDirectory place_;
    Clock clock_;
    Comm alone_ = Comm::self(clock_);
};

TEST_F(GuardedPathTest, a_link_is_not_opened_for_writing_whatever_the_flags) {
    fs::create_symlink(victim(), in("link"));
    for (const int flags : {O_WRONLY, O_RDWR, O_RDWR | O_CREAT, O_WRONLY | O_CREAT | O_TRUNC}) {
        const auto file = open_file(in("link"), flags);
        ASSERT_FALSE(file);
        EXPECT_EQ(file.error().system_code, ELOOP);
        EXPECT_EQ(file.error().cause, "it is a symbolic link, which is not followed");
    }
    EXPECT_EQ(of_victim(), "precious");
    EXPECT_TRUE(open_file(in("link"), O_RDONLY));
}

TEST_F(GuardedPathTest, a_link_to_nothing_creates_nothing) {
    fs::create_symlink(in("nothing"), in("link"));
    EXPECT_FALSE(open_file(in("link"), O_RDWR | O_CREAT));
    EXPECT_FALSE(fs::exists(in("nothing")));
}

TEST_F(GuardedPathTest, a_second_name_of_a_file_is_not_emptied) {
    fs::create_hard_link(victim(), in("second"));
    EXPECT_FALSE(open_file(in("second"), O_RDWR | O_CREAT));
    EXPECT_FALSE(open_file(in("second"), O_RDWR | O_CREAT | O_TRUNC));
    EXPECT_FALSE(open_file(in("second"), O_WRONLY));
    EXPECT_TRUE(open_file(in("second"), O_RDONLY));
    EXPECT_EQ(of_victim(), "precious");
}

TEST_F(GuardedPathTest, a_file_of_ones_own_is_made_and_emptied) {
    EXPECT_TRUE(open_file(in("own"), O_RDWR | O_CREAT | O_TRUNC));
    EXPECT_TRUE(open_file(victim(), O_RDWR | O_CREAT));
    EXPECT_EQ(of_victim(), "precious");
    EXPECT_TRUE(open_file(victim(), O_RDWR | O_CREAT | O_TRUNC));
    EXPECT_EQ(of_victim(), "");
}

TEST_F(GuardedPathTest, a_library_is_not_given_a_link) {
    fs::create_symlink(victim(), in("link"));
    EXPECT_FALSE(GuardedPath(alone_, in("link")).make());
    fs::create_hard_link(victim(), in("second"));
    EXPECT_FALSE(GuardedPath(alone_, in("second")).make());
    EXPECT_EQ(of_victim(), "precious");
}

TEST_F(GuardedPathTest, what_a_library_opened_by_a_link_is_not_written_to) {
    fs::create_symlink(victim(), in("link"));
    const auto linked = GuardedPath(alone_, in("link")).confirm();
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().cause, "it is a symbolic link: not written to");
    EXPECT_TRUE(GuardedPath(alone_, victim()).confirm());
    fs::create_hard_link(victim(), in("second"));
    EXPECT_FALSE(GuardedPath(alone_, in("second")).confirm());
    // The file is removed at its close, as MPI-IO does.
    EXPECT_TRUE(GuardedPath(alone_, in("nothing")).confirm());
}

TEST_F(GuardedPathTest, what_takes_the_place_while_the_library_opens_is_found) {
    GuardedPath path(alone_, in("own"));
    ASSERT_TRUE(path.make());
    EXPECT_TRUE(path.check());
    // As PnetCDF does: removed and made anew.
    fs::remove(in("own"));
    std::ofstream(in("own")) << "new";
    EXPECT_TRUE(path.check());
    fs::remove(in("own"));
    EXPECT_FALSE(path.check());
    fs::create_symlink(victim(), in("own"));
    const auto linked = path.check();
    ASSERT_FALSE(linked);
    EXPECT_NE(linked.error().cause.find("it is a symbolic link"), std::string::npos);
    fs::remove(in("own"));
    fs::create_hard_link(victim(), in("own"));
    EXPECT_FALSE(path.check());
}

}  // namespace
}  // namespace effio
