// SPDX-License-Identifier: BSD-3-Clause
// What a run may create and remove in its directories, and what it must leave alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "storage/posix.hpp"
#include "storage/target.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

struct TargetFiles : testing::Test {
    TestSession at;
    std::unique_ptr<Storage> storage = make_posix_storage(at.session);
    SharedDirectory directory{at.comm};
    const fs::path room = directory.path();

    void SetUp() override {
        if (at.comm.is_root()) fs::create_directory(room / "second");
        at.comm.barrier();
    }
    void put(const std::string& name) {
        if (at.comm.is_root()) std::ofstream(room / name) << "user's";
        at.comm.barrier();
    }
    bool there(const std::string& name) {
        at.comm.barrier();
        return fs::exists(room / name);
    }
    FileSet numbered(const std::string& stem) {
        FileSet set;
        set.stem = stem;
        set.count = 3;
        set.indexed = true;
        set.digits = 8;
        return set;
    }
};

TEST(Cap, memory_that_cannot_be_read_is_not_called_0) {
    FileSystem fs;
    fs.type = "tmpfs";
    fs.mount_point = "/dev/shm";
    fs.memory_backed = true;
    fs.free_bytes = 1000;
    EXPECT_EQ(find_cap(fs, 600, {}).bytes, 300);
    const ByteCap unknown = find_cap(fs, {}, {});
    EXPECT_EQ(unknown.bytes, 800);
    EXPECT_EQ(unknown.why,
              "80 % of the 1000 B free on /dev/shm; tmpfs lives in memory, and how much memory is "
              "available cannot be read");
}

TEST_F(TargetFiles, names_have_index_directory_and_suffix) {
    FileSet set = numbered("data.");
    set.suffix = ".2";
    set.first = 1;
    set.step = 2;
    EXPECT_EQ(set.name(0), "data.00000001.2");
    EXPECT_EQ(set.name(2), "data.00000005.2");
    EXPECT_EQ(set.pattern(), "data.%08d.2");
    set.own_directory = true;
    EXPECT_EQ(set.name(1), "3/data.00000003.2");
    EXPECT_EQ(set.pattern(), "%d/data.%08d.2");
    EXPECT_EQ((FileSet{"50%d%", 1, false}.pattern()), "50%%d%%");
    const FileSet three{"x", 1, true};
    EXPECT_EQ(three.name(0), "x000");
}

TEST_F(TargetFiles, an_existing_name_is_refused_in_any_of_the_directories) {
    put("second/data.00000002");
    Target::Request request;
    request.directory = room;
    request.more_directories = {room / "second"};
    FileSet set = numbered("data.");
    set.directory = room / "second";
    request.files = {set};
    const auto target = Target::prepare(at.session, *storage, request);
    ASSERT_FALSE(target);
    EXPECT_EQ(target.error().exit_code, ExitCode::usage);
    EXPECT_EQ(target.error().path, (room / "second/data.00000002").string());
}

TEST_F(TargetFiles, existing_files_stay_the_users) {
    put("data.00000001");
    Target::Request request;
    request.directory = room;
    request.files = {numbered("data.")};
    request.use_existing = true;
    auto target = Target::prepare(at.session, *storage, request);
    ASSERT_TRUE(target);
    EXPECT_EQ(target->existing(), 1);
    EXPECT_TRUE(target->manifest()["keep"].get<bool>());
    put("data.00000000");  // made by the run
    put("data.00000002");
    ASSERT_TRUE(target->remove_files(at.session, *storage));
    EXPECT_FALSE(there("data.00000000"));
    EXPECT_TRUE(there("data.00000001"));
    EXPECT_FALSE(there("data.00000002"));
    put("data.00000000");
    target->remove_all_quietly();
    EXPECT_TRUE(there("data.00000001"));
}

TEST_F(TargetFiles, the_space_of_existing_files_may_be_overwritten) {
    Target::Request request;
    request.directory = room;
    request.files = {numbered("data.")};
    request.use_existing = true;
    request.max_bytes = Bytes{1000};
    const auto given = Target::prepare(at.session, *storage, request);
    ASSERT_TRUE(given);
    EXPECT_EQ(given->cap().bytes, 1000);
}

TEST_F(TargetFiles, a_run_that_only_reads_needs_its_files_and_removes_none) {
    Target::Request request;
    request.directory = room;
    request.files = {numbered("data.")};
    request.only_read = true;
    const auto missing = Target::prepare(at.session, *storage, request);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().system_code, ENOENT);
    for (const char* name : {"data.00000000", "data.00000001", "data.00000002"}) put(name);
    const auto target = Target::prepare(at.session, *storage, request);
    ASSERT_TRUE(target);
    ASSERT_TRUE(target->remove_files(at.session, *storage));
    target->remove_all_quietly();
    EXPECT_TRUE(there("data.00000000"));
    EXPECT_TRUE(there("data.00000002"));
}

TEST_F(TargetFiles, own_directories_go_with_their_files_unless_they_were_there_before) {
    if (at.comm.is_root()) fs::create_directory(room / "1");
    at.comm.barrier();
    Target::Request request;
    request.directory = room;
    FileSet set = numbered("data.");
    set.own_directory = true;
    request.files = {set};
    const auto target = Target::prepare(at.session, *storage, request);
    ASSERT_TRUE(target);
    ASSERT_TRUE(target->make_own_directories(at.session));
    EXPECT_TRUE(there("2"));
    put("0/data.00000000");
    put("1/data.00000001");
    ASSERT_TRUE(target->remove_files(at.session, *storage));
    EXPECT_FALSE(there("0"));
    EXPECT_TRUE(there("1"));
    EXPECT_FALSE(there("1/data.00000001"));
    EXPECT_FALSE(there("2"));
}

TEST_F(TargetFiles, only_regular_files_are_replaced_and_their_space_counts) {
    put("data.00000001");
    Target::Request request;
    request.directory = room;
    request.files = {numbered("data.")};
    request.overwrite = true;
    const auto replacing = Target::prepare(at.session, *storage, request);
    ASSERT_TRUE(replacing);
    EXPECT_EQ(replacing->replaced(), 1);
    EXPECT_EQ(replacing->existing(), 0);
    if (at.comm.is_root()) {
        ASSERT_EQ(mkfifo((room / "data.00000002").c_str(), 0600), 0);
    }
    at.comm.barrier();
    const auto refused = Target::prepare(at.session, *storage, request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().exit_code, ExitCode::usage);
    EXPECT_EQ(refused.error().cause, "is a FIFO: only regular files are replaced and removed");
    // One that came to be later stays as well.
    EXPECT_FALSE(replacing->remove_files(at.session, *storage));
    replacing->remove_all_quietly();
    EXPECT_FALSE(there("data.00000001"));
    EXPECT_TRUE(there("data.00000002"));
}

TEST_F(TargetFiles, a_link_of_our_name_is_not_followed) {
    if (at.comm.is_root()) fs::create_symlink("elsewhere", room / "data.00000000");
    at.comm.barrier();
    Target::Request request;
    request.directory = room;
    request.files = {numbered("data.")};
    for (const bool overwrite : {false, true}) {
        request.overwrite = overwrite;
        EXPECT_FALSE(Target::prepare(at.session, *storage, request));
    }
    EXPECT_TRUE(fs::is_symlink(room / "data.00000000"));
    at.comm.barrier();
}

TEST_F(TargetFiles, a_set_that_is_kept_stays_while_others_go) {
    Target::Request request;
    request.directory = room;
    FileSet kept{"kept", 1, false};
    kept.keep = true;
    request.files = {kept, {"gone", 1, false}};
    const auto target = Target::prepare(at.session, *storage, request);
    ASSERT_TRUE(target);
    put("kept");
    put("gone");
    ASSERT_TRUE(target->remove_files(at.session, *storage));
    EXPECT_TRUE(there("kept"));
    EXPECT_FALSE(there("gone"));
}

}  // namespace
}  // namespace effio
