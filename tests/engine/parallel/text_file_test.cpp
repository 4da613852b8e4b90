// SPDX-License-Identifier: BSD-3-Clause
// Files and links that are already in the place of a file that the engine is about to write.
#include "parallel/text_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "own_directory.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;
using Opens = std::function<Result<TextFile>(const std::string&, const std::string&)>;

class TextFileTest : public testing::Test {
  protected:
    TextFileTest() { std::ofstream(victim()) << "precious"; }

    std::string in(const std::string& name) const { return place_ / name; }
    std::string victim() const { return in("victim"); }
    std::string content_of(const std::string& name) const {
        std::ifstream file(in(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::size_t names() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(place_.path()), fs::directory_iterator()));
    }
    static constexpr const char* does = "write";

    OwnDirectory place_;
};

TEST_F(TextFileTest, no_way_of_opening_follows_a_symbolic_link) {
    fs::create_symlink(victim(), in("link"));
    fs::create_symlink(in("nothing"), in("dangling"));
    for (const Opens& opens : {Opens(TextFile::create), Opens(TextFile::replace),
                               Opens(TextFile::extend), Opens(TextFile::share)}) {
        for (const char* name : {"link", "dangling"}) {
            const auto file = opens(does, in(name));
            ASSERT_FALSE(file);
            EXPECT_EQ(file.error().path, in(name));
            EXPECT_EQ(file.error().operation, does);
        }
    }
    EXPECT_EQ(TextFile::replace(does, in("link")).error().cause,
              "it is a symbolic link: not written to; remove it, or use another name");
    EXPECT_EQ(content_of("victim"), "precious");
    EXPECT_FALSE(fs::exists(in("nothing")));
    EXPECT_EQ(names(), 3U);
}

TEST_F(TextFileTest, a_second_name_keeps_its_bytes) {
    fs::create_hard_link(victim(), in("second"));
    EXPECT_FALSE(TextFile::extend(does, in("second")));
    EXPECT_FALSE(TextFile::share(does, in("second")));
    ASSERT_TRUE(write_text(does, in("second"), "mine"));
    EXPECT_EQ(content_of("second"), "mine");
    EXPECT_EQ(content_of("victim"), "precious");
    EXPECT_EQ(names(), 2U);
}

TEST_F(TextFileTest, a_fifo_or_directory_is_neither_waited_for_nor_replaced) {
    ASSERT_EQ(mkfifo(in("fifo").c_str(), 0600), 0);
    fs::create_directory(in("directory"));
    for (const char* name : {"fifo", "directory"}) {
        EXPECT_FALSE(TextFile::create(does, in(name)));
        EXPECT_FALSE(TextFile::replace(does, in(name)));
        EXPECT_FALSE(TextFile::extend(does, in(name)));
        EXPECT_FALSE(TextFile::share(does, in(name)));
    }
    EXPECT_TRUE(fs::is_fifo(in("fifo")));
    EXPECT_TRUE(fs::is_directory(in("directory")));
}

TEST_F(TextFileTest, a_file_is_replaced_with_its_permissions_and_extended_in_place) {
    std::ofstream(in("own")) << "longer than what follows";
    fs::permissions(in("own"), fs::perms::owner_read | fs::perms::owner_write);
    ASSERT_TRUE(write_text(does, in("own"), "new"));
    EXPECT_EQ(content_of("own"), "new");
    EXPECT_EQ(fs::status(in("own")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    auto more = TextFile::extend(does, in("own"));
    ASSERT_TRUE(more);
    ASSERT_TRUE(more->write(" line"));
    ASSERT_TRUE(more->close());
    EXPECT_EQ(content_of("own"), "new line");
    EXPECT_EQ(TextFile::create(does, in("own")).error().system_code, EEXIST);
    EXPECT_FALSE(TextFile::extend(does, in("missing")));
    EXPECT_TRUE(TextFile::share(does, in("missing")));
    EXPECT_EQ(names(), 3U);
}

TEST_F(TextFileTest, a_failed_write_has_the_cause) {
    const auto written = write_text(does, "/dev/full", "x");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().text(), "write /dev/full: No space left on device");
    EXPECT_EQ(write_text(does, in("no/such"), "x").error().system_code, ENOENT);
}

}  // namespace
}  // namespace effio
