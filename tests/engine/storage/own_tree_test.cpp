// SPDX-License-Identifier: BSD-3-Clause
// Trees of a run: made exclusively, removed with what the run made in them, and nothing else.
#include "storage/own_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "../own_directory.hpp"
#include "../test_session.hpp"
#include "storage/run_marks.hpp"
#include "storage/target.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

class OwnTree : public testing::Test {
  protected:
    std::string at(const std::string& name) const { return place_ + "/" + name; }
    void file(const std::string& name) const { std::ofstream(at(name)) << name; }
    std::vector<std::string> listed() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(place_)) {
            names.push_back(fs::relative(entry.path(), place_));
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    OwnDirectory made_;
    std::string place_ = made_.path();
};

using Listing = std::vector<std::string>;
using SetKind = NameSet::Kind;

std::vector<NameSet> names() {
    return {{SetKind::directory, "d%d", {300}},
            {SetKind::file, "f%d", {300}},
            {SetKind::link, "link%d", {3}}};
}

TEST_F(OwnTree, is_made_once_and_knows_its_owner) {
    EXPECT_TRUE(make_own_tree(at("t"), "token-1"));
    EXPECT_EQ(*owner_of_tree(at("t")), "token-1");
    EXPECT_EQ(make_own_tree(at("t"), "token-2").error().system_code, EEXIST);
    EXPECT_EQ(*owner_of_tree(at("t")), "token-1");
}

TEST_F(OwnTree, goes_with_what_the_run_made_and_leaves_what_links_point_to) {
    ASSERT_TRUE(make_own_tree(at("t"), "mine"));
    file("outside");
    fs::create_directories(at("other/deep"));
    file("other/deep/file");
    fs::create_directories(at("t/d1/d2/d3"));
    for (int i = 0; i < 300; ++i) file("t/d1/d2/f" + std::to_string(i));
    fs::create_symlink(at("outside"), at("t/d1/link0"));
    fs::create_directory_symlink(at("other"), at("t/d1/link1"));
    fs::create_directory_symlink("..", at("t/d1/link2"));
    fs::create_hard_link(at("outside"), at("t/f7"));
    const auto removed = remove_own_tree(at("t"), "mine", names());
    EXPECT_TRUE(removed) << removed.error().text();
    EXPECT_EQ(listed(), (Listing{"other", "other/deep", "other/deep/file", "outside"}));
}

TEST_F(OwnTree, what_the_run_did_not_make_stays_with_its_directories_and_is_listed) {
    ASSERT_TRUE(make_own_tree(at("t"), "mine"));
    fs::create_directories(at("t/d1/d2"));
    file("t/d1/d2/f0");
    file("t/d1/precious");
    const auto removed = remove_own_tree(at("t"), "mine", names());
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().cause,
              "it holds what this run did not make, which stays: " + at("t/d1/precious"));
    EXPECT_EQ(listed(), (Listing{"t", "t/.effio-owner", "t/d1", "t/d1/precious"}));
}

TEST_F(OwnTree, one_that_is_kept_is_handed_over_and_can_be_adopted) {
    ASSERT_TRUE(make_own_tree(at("t"), "mine"));
    file("t/f0");
    ASSERT_TRUE(hand_over_tree(at("t"), "another"));
    EXPECT_TRUE(fs::exists(at("t/.effio-owner")));
    ASSERT_TRUE(hand_over_tree(at("t"), "mine"));
    EXPECT_EQ(listed(), (Listing{"t", "t/f0"}));
    EXPECT_FALSE(remove_adopted_tree(at("t"), {}));
    EXPECT_EQ(listed(), (Listing{"t", "t/f0"}));
    EXPECT_TRUE(remove_adopted_tree(at("t"), names()));
    EXPECT_TRUE(listed().empty());
    EXPECT_TRUE(hand_over_tree(at("t"), "mine"));
}

TEST_F(OwnTree, another_runs_tree_and_a_foreign_directory_stay) {
    ASSERT_TRUE(make_own_tree(at("t"), "theirs"));
    file("t/f0");
    EXPECT_FALSE(remove_own_tree(at("t"), "mine", names()));
    fs::create_directory(at("foreign"));
    file("foreign/f0");
    EXPECT_FALSE(remove_own_tree(at("foreign"), "mine", names()));
    EXPECT_FALSE(remove_own_tree(at("foreign"), "", names()));
    EXPECT_EQ(listed(), (Listing{"foreign", "foreign/f0", "t", "t/.effio-owner", "t/f0"}));
}

TEST_F(OwnTree, a_link_in_place_of_the_tree_or_of_its_owner_file_is_not_followed) {
    ASSERT_TRUE(make_own_tree(at("t"), "mine"));
    file("t/f0");
    fs::create_directory_symlink(at("t"), at("link"));
    EXPECT_FALSE(remove_own_tree(at("link"), "mine", names()));
    EXPECT_FALSE(remove_adopted_tree(at("link"), names()));
    fs::create_directory(at("trap"));
    file("trap/f0");
    fs::create_symlink(at("t/.effio-owner"), at("trap/.effio-owner"));
    EXPECT_FALSE(remove_own_tree(at("trap"), "mine", names()));
    EXPECT_TRUE(fs::exists(at("t/f0")));
    EXPECT_TRUE(fs::exists(at("trap/f0")));
}

TEST_F(OwnTree, what_is_not_there_needs_no_removal) {
    EXPECT_TRUE(remove_own_tree(at("none"), "mine", names()));
}

TEST_F(OwnTree, a_path_longer_than_the_system_takes_goes_too) {
    ASSERT_TRUE(make_own_tree(at("t"), "mine"));
    // Made step by step, because its full path is longer than the system allows.
    const auto home = fs::current_path();
    fs::current_path(at("t"));
    for (int i = 0; i < 30; ++i) {
        const std::string name(200, 'd');
        ASSERT_TRUE(fs::create_directory(name));
        fs::current_path(name);
    }
    fs::current_path(home);
    const NameSet long_name{SetKind::directory, std::string(200, 'd'), {}};
    const auto removed = remove_own_tree(at("t"), "mine", {&long_name, 1});
    EXPECT_TRUE(removed) << removed.error().text();
    EXPECT_TRUE(listed().empty());
}

TEST(TreeSet, names_follow_the_counts_and_the_last_index_runs_first) {
    const TreeSet set{"/d", "test-dir.", {2, 3}};
    EXPECT_EQ(set.count(), 6);
    EXPECT_EQ(set.path(0), "/d/test-dir.0-0");
    EXPECT_EQ(set.path(4), "/d/test-dir.1-1");
    EXPECT_EQ(json_line(set.to_json()),
              R"({"directory":"/d","name":"test-dir.%d-%d","counts":[2,3],"names":[]})");
    EXPECT_EQ((TreeSet{"/", "one", {}}).path(0), "/one");
}

class Trees : public OwnTree {
  public:
    Trees() { s_.comm.broadcast(place_); }  // one place for all ranks
    Trees(const Trees&) = delete;
    Trees& operator=(const Trees&) = delete;
    ~Trees() override { s_.comm.barrier(); }

  protected:
    Result<Target> prepare(bool overwrite = false, bool adopt = false) {
        Target::Request request;
        request.directory = place_;
        request.trees = {{place_, "t.", {2}, names()}};
        request.overwrite = overwrite;
        request.adopt_trees = adopt;
        return Target::prepare(s_.session, true, std::move(request));
    }
    void make_all(const Target& target) {
        if (s_.comm.is_root()) {
            EXPECT_TRUE(target.make_tree(at("t.0")));
            EXPECT_TRUE(target.make_tree(at("t.1")));
        }
        s_.comm.barrier();
    }
    TestSession s_;
};

TEST_F(Trees, a_run_makes_them_and_removes_them_and_its_manifest_names_them) {
    const auto target = prepare();
    ASSERT_TRUE(target);
    make_all(*target);
    EXPECT_EQ(target->manifest()["trees"][0]["name"], "t.%d");
    EXPECT_EQ(target->manifest()["token"], *owner_of_tree(at("t.1")));
    s_.comm.barrier();
    EXPECT_TRUE(target->remove_trees(s_.session));
    s_.comm.barrier();
    EXPECT_TRUE(listed().empty());
}

TEST_F(Trees, an_existing_tree_is_refused_or_replaced_or_adopted) {
    const auto first = prepare();
    ASSERT_TRUE(first);
    make_all(*first);
    const auto second = prepare();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().exit_code, ExitCode::usage);
    const auto adopted = prepare(false, true);
    ASSERT_TRUE(adopted);
    EXPECT_FALSE(adopted->manifest().contains("trees"));
    adopted->remove_all_quietly();
    s_.comm.barrier();
    EXPECT_TRUE(fs::exists(at("t.0")));
    s_.comm.barrier();
    const auto third = prepare(true);
    ASSERT_TRUE(third);
    s_.comm.barrier();
    EXPECT_FALSE(fs::exists(at("t.0")));
}

TEST_F(Trees, one_that_holds_what_the_run_would_not_make_is_refused_even_with_overwrite) {
    if (s_.comm.is_root()) {
        fs::create_directories(at("t.1/d0"));
        file("t.1/f0");
        file("t.1/d0/precious");
    }
    s_.comm.barrier();
    const auto target = prepare(true);
    ASSERT_FALSE(target);
    EXPECT_EQ(target.error().exit_code, ExitCode::usage);
    EXPECT_EQ(target.error().cause,
              "exists already and holds what this run would not make: " + at("t.1/d0/precious"));
    EXPECT_TRUE(fs::exists(at("t.1/f0")));
    s_.comm.barrier();
}

TEST_F(Trees, those_that_are_kept_are_handed_over) {
    Target::Request request;
    request.directory = place_;
    request.trees = {{place_, "t.", {2}, names()}};
    request.keep = true;
    const auto target = Target::prepare(s_.session, true, std::move(request));
    ASSERT_TRUE(target);
    make_all(*target);
    EXPECT_TRUE(target->remove_trees(s_.session));
    s_.comm.barrier();
    EXPECT_EQ(listed(), (Listing{"t.0", "t.1"}));
    s_.comm.barrier();
}

TEST_F(Trees, what_is_not_there_cannot_be_adopted) {
    const auto target = prepare(false, true);
    ASSERT_FALSE(target);
    EXPECT_EQ(target.error().exit_code, ExitCode::usage);
}

TEST_F(Trees, a_mark_stays_while_files_may_only_look_removed) {
    bool hidden = true;
    Json manifest{{"directory", place_}, {"real", true}, {"keep", false}, {"trees", Json::array()}};
    manifest["files"] = Json::array({Json{{"directory", place_}}});
    RunMarks marks(s_.session, [&](const std::string& directory) {
        EXPECT_EQ(directory, place_);
        return hidden;
    });
    marks.make(manifest);
    const std::string mark = ".effio-run-" + manifest["token"].get<std::string>().substr(0, 16);
    s_.comm.barrier();
    if (s_.comm.is_root()) {
        marks.remove();
        EXPECT_EQ(listed(), Listing{mark});
        hidden = false;
        marks.remove();
        EXPECT_EQ(listed(), Listing{});
    }
    s_.comm.barrier();
}

}  // namespace
}  // namespace effio
