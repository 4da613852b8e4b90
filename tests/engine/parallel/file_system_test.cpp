// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file_system.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "../own_directory.hpp"

namespace effio {
namespace {

constexpr long tmpfs_magic = 0x01021994;

bool is_tmpfs(const char* path) {
    struct statfs info{};
    return ::statfs(path, &info) == 0 && info.f_type == tmpfs_magic;
}

/// The system lists a mount that holds the path.
bool is_listed(const std::string& path) {
    std::ifstream mounts("/proc/self/mounts");
    for (std::string source, point, rest;
         mounts >> source >> point && std::getline(mounts, rest);) {
        if (point == "/" || path == point || path.starts_with(point + "/")) return true;
    }
    return false;
}

/// /gone has a folder of what is mounted nowhere else; at /data the later mount is the one seen.
constexpr const char* mounts_of_a_client = R"(22 1 254:0 / / rw - ext4 /dev/vda rw
40 22 0:50 / /srv/all\040of\040it rw,nodev shared:7 - fuse.glusterfs host:/v rw,user_id=0
41 22 0:50 /users/me /scratch rw,nodev - fuse.glusterfs host:/v rw,user_id=0
42 22 0:51 /folder /gone rw - fuse.glusterfs host:/w rw
43 22 0:52 / /data rw - fuse.glusterfs host:/x rw
44 22 0:50 /data /data rw - fuse.glusterfs host:/v rw
)";

TEST(FileSystem, a_folder_that_is_mounted_belongs_to_the_mount_of_all_of_it) {
    const auto whole = [](const std::string& point) {
        std::istringstream mountinfo(mounts_of_a_client);
        return find_whole_mount(mountinfo, point);
    };
    EXPECT_EQ(whole("/"), "/");
    EXPECT_EQ(whole("/srv/all of it"), "/srv/all of it");
    EXPECT_EQ(whole("/scratch"), "/srv/all of it");
    EXPECT_EQ(whole("/data"), "/srv/all of it");
    EXPECT_EQ(whole("/gone"), "");
    EXPECT_EQ(whole("/nowhere"), "");
}

TEST(FileSystem, space_and_inodes_are_those_of_the_system) {
    const std::string here = std::filesystem::current_path();
    const auto fs = find_file_system(here);
    ASSERT_TRUE(fs);
    const auto space = std::filesystem::space(here);
    EXPECT_EQ(fs->total_bytes, static_cast<std::int64_t>(space.capacity));
    // Others write at the same time.
    EXPECT_NEAR(static_cast<double>(fs->free_bytes), static_cast<double>(space.available),
                0.05 * static_cast<double>(space.capacity));
    const auto used = static_cast<double>(space.capacity - space.free);
    EXPECT_NEAR(static_cast<double>(fs->used_bytes), used,
                0.002 * static_cast<double>(space.capacity));
    EXPECT_GT(fs->block_bytes, 0);
    EXPECT_LE(fs->free_inodes, fs->total_inodes);
    EXPECT_FALSE(fs->type.empty());
    // Empty where the system lists no mount that holds it: the root of a chroot need not be one.
    EXPECT_EQ(fs->mount_point.empty(), !is_listed(here));
    EXPECT_TRUE(here.starts_with(fs->mount_point));
    EXPECT_EQ(fs->memory_backed, is_tmpfs(here.c_str()));
    const Json j = fs->to_json();
    EXPECT_EQ(j["type"], fs->type);
    EXPECT_EQ(j["total_bytes"], fs->total_bytes);
}

TEST(FileSystem, tmpfs_lives_in_memory) {
    if (!is_tmpfs("/dev/shm")) GTEST_SKIP() << "/dev/shm is not a tmpfs here";
    const auto fs = find_file_system("/dev/shm");
    ASSERT_TRUE(fs);
    EXPECT_EQ(fs->type, "tmpfs");
    EXPECT_EQ(fs->mount_point, "/dev/shm");
    EXPECT_TRUE(fs->memory_backed);
    EXPECT_FALSE(fs->device);
}

TEST(FileSystem, what_is_not_there_is_an_error) {
    const auto fs = find_file_system("/no/such/directory");
    ASSERT_FALSE(fs);
    EXPECT_EQ(fs.error().system_code, ENOENT);
    EXPECT_EQ(fs.error().path, "/no/such/directory");
}

/// Runs `body(directory)` with a small tmpfs at a path with a blank and a backslash in it, in a
/// process with its own mount namespace. False where that is not allowed.
bool on_mounted_tmpfs(const std::function<void(const std::string&)>& body) {
    constexpr int not_allowed = 77;
    const OwnDirectory base;
    const std::string point = base / "a b\\c";
    std::filesystem::create_directories(point);
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) != 0 ||
            mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("effio", point.c_str(), "tmpfs", 0, "size=1m,nr_inodes=64") != 0) {
            _exit(not_allowed);
        }
        std::filesystem::create_directory(point + "/inside");
        body(point + "/inside");
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_allowed) return false;
    EXPECT_EQ(status, 0) << "the process with the mount failed";
    return true;
}

TEST(FileSystem, mount_points_with_blanks_are_found) {
    const bool done = on_mounted_tmpfs([](const std::string& directory) {
        const auto fs = find_file_system(directory);
        ASSERT_TRUE(fs);
        EXPECT_EQ(fs->type, "tmpfs");
        EXPECT_EQ(fs->source, "effio");
        EXPECT_TRUE(fs->mount_point.ends_with("/a b\\c")) << fs->mount_point;
        EXPECT_TRUE(fs->memory_backed);
        EXPECT_EQ(fs->total_bytes, 1048576);
        EXPECT_EQ(fs->total_inodes, 64);
        EXPECT_NE(fs->options.find("size=1024k"), std::string::npos) << fs->options;
    });
    if (!done) GTEST_SKIP() << "mounting is not allowed here";
}

TEST(FileSystem, a_device_counts_what_it_moves) {
    const auto fs = find_file_system(std::filesystem::current_path());
    ASSERT_TRUE(fs);
    if (!fs->device) GTEST_SKIP() << "no block device below " << fs->path;
    const auto counters = device_counters(*fs->device);
    ASSERT_TRUE(counters);
    EXPECT_GT(counters->read_bytes, 0);
    EXPECT_EQ(counters->read_bytes % 512, 0);
    EXPECT_FALSE(device_counters("999:999"));
}

}  // namespace
}  // namespace effio
