// SPDX-License-Identifier: BSD-3-Clause
// What control groups leave of the memory, from files as the kernel writes them.
#include "parallel/group_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace effio {
namespace {

struct GroupOfMemory : testing::Test {
    std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "effio-groups";
    GroupOfMemory() { std::filesystem::remove_all(root); }
    ~GroupOfMemory() override { std::filesystem::remove_all(root); }
    void put(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text;
    }
    std::optional<GroupMemory> found() const { return find_group_memory(root.string()); }
};

TEST_F(GroupOfMemory, version_2_takes_the_tightest_of_all_levels) {
    put("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
    put("sys/fs/cgroup/slurm/memory.max", "8000\n");
    put("sys/fs/cgroup/slurm/memory.current", "7500\n");
    put("sys/fs/cgroup/slurm/memory.stat", "anon 6000\ninactive_file 300\nactive_file 200\n");
    put("sys/fs/cgroup/slurm/job_7/memory.max", "4000\n");
    put("sys/fs/cgroup/slurm/job_7/memory.current", "1000\n");
    put("sys/fs/cgroup/slurm/job_7/memory.stat", "inactive_file 100\n");
    put("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
    ASSERT_TRUE(found());
    EXPECT_EQ(found()->limit_bytes, 4000);
    // Of the upper one 8000 - (7500 - 500) are left, of the job 4000 - (1000 - 100).
    EXPECT_EQ(found()->available_bytes, 1000);
}

TEST_F(GroupOfMemory, version_1_counts_its_page_cache_as_available) {
    put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/job\n0::/\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n");
    put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "900\n");
    put("sys/fs/cgroup/memory/job/memory.stat",
        "cache 700\ninactive_file 1\ntotal_inactive_file 400\ntotal_active_file 50\n");
    ASSERT_TRUE(found());
    EXPECT_EQ(found()->limit_bytes, 1000);
    EXPECT_EQ(found()->available_bytes, 1000 - (900 - 450));
}

TEST_F(GroupOfMemory, in_a_container_the_mount_itself_is_the_group) {
    put("proc/self/cgroup", "0::/somewhere/on/the/node\n");
    put("sys/fs/cgroup/memory.max", "5000\n");
    ASSERT_TRUE(found());
    EXPECT_EQ(found()->limit_bytes, 5000);
    EXPECT_EQ(found()->available_bytes, 5000);  // what is used cannot be read
}

TEST_F(GroupOfMemory, without_a_limit_there_is_nothing) {
    EXPECT_FALSE(found());
    put("proc/self/cgroup", "0::/a\nnonsense\n7:memory\n");
    put("sys/fs/cgroup/a/memory.max", "max\n");
    EXPECT_FALSE(found());
}

}  // namespace
}  // namespace effio
