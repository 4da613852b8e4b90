// SPDX-License-Identifier: BSD-3-Clause
// Only what is accounted for goes: by name, by kind, and never through a link.
#include "storage/removal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "../own_directory.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;
using Kind = NameSet::Kind;
using Listing = std::vector<std::string>;

struct Removal : testing::Test {
    std::string at(const std::string& name) const { return place / name; }
    void file(const std::string& name) const { std::ofstream(at(name)) << name; }
    Listing listed() const {
        Listing names;
        for (const auto& entry : fs::recursive_directory_iterator(place.path())) {
            names.push_back(entry.path().lexically_relative(place.path()));
        }
        std::sort(names.begin(), names.end());
        return names;
    }
    Descriptor open() const {
        return Descriptor(::open(place.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }

    OwnDirectory place;
};

TEST(NameSet, numbers_are_below_their_counts_and_may_begin_with_zeros) {
    const NameSet set{Kind::file, "file.%d.%d.link", {2, 10}};
    EXPECT_TRUE(set.holds("file.0.0.link"));
    EXPECT_TRUE(set.holds("file.1.9.link"));
    EXPECT_TRUE(set.holds("file.1.0000000000000000000000009.link"));
    for (const char* other : {"file.2.0.link", "file.0.10.link", "file.0.0", "file.0.0.linked",
                              "file..0.link", "file.-1.0.link", "xfile.0.0.link", "file.0x.0.link",
                              "file.0.99999999999999999999.link", ""}) {
        EXPECT_FALSE(set.holds(other)) << other;
    }
    EXPECT_TRUE((NameSet{Kind::directory, "moved", {}}.holds("moved")));
    EXPECT_FALSE((NameSet{Kind::directory, "moved", {}}.holds("moved.1")));
    EXPECT_EQ(json_line(set.to_json()),
              R"({"kind":"file","name":"file.%d.%d.link","counts":[2,10]})");
}

TEST_F(Removal, a_regular_file_goes_and_one_that_is_not_there_is_no_error) {
    file("data");
    EXPECT_TRUE(remove_file(at("data")));
    EXPECT_TRUE(remove_file(at("data")));
    EXPECT_TRUE(remove_file(at("none/data")));
    EXPECT_EQ(listed(), Listing{});
}

TEST_F(Removal, whatever_is_not_a_regular_file_stays_and_is_reported) {
    file("data");
    fs::create_symlink("data", at("link"));
    fs::create_directory(at("directory"));
    ASSERT_EQ(mkfifo(at("fifo").c_str(), 0600), 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string socket_path = at("socket");
    ASSERT_LT(socket_path.size(), sizeof name.sun_path);
    std::memcpy(static_cast<void*>(name.sun_path), socket_path.data(), socket_path.size());
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    const Listing before = listed();
    for (const auto& [entry, kind] : {std::pair("link", "a symbolic link"),
                                      {"directory", "a directory"},
                                      {"fifo", "a FIFO"},
                                      {"socket", "a socket"}}) {
        const auto removed = remove_file(at(entry));
        ASSERT_FALSE(removed) << entry;
        EXPECT_EQ(removed.error().cause,
                  std::string("is ") + kind + ", not a regular file: it stays");
    }
    EXPECT_EQ(remove_file("/dev/null").error().cause,
              "is a character device, not a regular file: it stays");
    EXPECT_EQ(listed(), before);
}

TEST_F(Removal, what_is_accounted_for_goes_and_all_else_stays_and_is_listed) {
    fs::create_directories(at("tree.0/tree.1"));
    fs::create_directories(at("tree.2/foreign"));
    fs::create_directory(at("tree.3"));
    for (const char* name : {"mark", "tree.0/file.0", "tree.0/tree.1/file.1", "tree.2/file.2",
                             "tree.2/precious", "tree.2/foreign/file.0", "tree.3/file.7"}) {
        file(name);
    }
    fs::create_symlink("file.0", at("tree.0/link.0"));
    fs::create_symlink("nowhere", at("tree.2/file.1"));        // a link of a file's name
    fs::create_directory_symlink(at("tree.2"), at("tree.1"));  // and of a directory's
    const std::vector<NameSet> names{{Kind::directory, "tree.%d", {4}},
                                     {Kind::file, "file.%d", {4}},
                                     {Kind::link, "link.%d", {4}}};
    const Listing stays{"mark",
                        "tree.1",
                        "tree.2",
                        "tree.2/file.1",
                        "tree.2/foreign",
                        "tree.2/foreign/file.0",
                        "tree.2/precious",
                        "tree.3",
                        "tree.3/file.7"};
    const Listing before = listed();
    for (const bool removes : {false, true}) {
        auto left = removes ? empty_directory(open(), place.path(), names, "mark")
                            : unaccounted_in(open(), place.path(), names, "mark");
        ASSERT_TRUE(left) << left.error().text();
        std::sort(left->paths.begin(), left->paths.end());
        EXPECT_EQ(left->paths, (Listing{at("tree.1"), at("tree.2/file.1"), at("tree.2/foreign"),
                                        at("tree.2/precious"), at("tree.3/file.7")}));
        EXPECT_EQ(left->count, 5);
        EXPECT_EQ(listed(), removes ? stays : before);
    }
}

TEST_F(Removal, a_directory_that_is_older_than_the_tree_stays) {
    // In addition to the tree, made before it and moved into it; its names are those of the run.
    fs::create_directory(at("older"));
    file("older/file.0");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the kernel's clock has ticks
    fs::create_directories(at("tree/tree.1"));
    fs::rename(at("older"), at("tree/tree.0"));
    struct statx info{};
    ASSERT_EQ(::statx(AT_FDCWD, at("tree").c_str(), 0, STATX_BTIME, &info), 0);
    if ((info.stx_mask & STATX_BTIME) == 0) GTEST_SKIP() << "no birth times here";
    const std::vector<NameSet> names{{Kind::directory, "tree.%d", {4}},
                                     {Kind::file, "file.%d", {4}}};
    const Descriptor tree(::open(at("tree").c_str(), O_RDONLY | O_DIRECTORY));
    const auto left = empty_directory(tree, at("tree"), names, {});
    ASSERT_TRUE(left);
    EXPECT_EQ(left->paths, Listing{at("tree/tree.0")});
    EXPECT_EQ(listed(), (Listing{"tree", "tree/tree.0", "tree/tree.0/file.0"}));
}

TEST_F(Removal, very_many_that_stay_are_counted) {
    for (int i = 0; i < 103; ++i) file("x" + std::to_string(i));
    const auto left = empty_directory(open(), place.path(), {}, {});
    ASSERT_TRUE(left);
    EXPECT_EQ(left->count, 103);
    EXPECT_EQ(left->paths.size(), 100);
    EXPECT_TRUE(left->text().ends_with(" and 3 more"));
    EXPECT_EQ(left->error("t").cause.find("it holds what this run did not make, which stays: "), 0);
}

}  // namespace
}  // namespace effio
