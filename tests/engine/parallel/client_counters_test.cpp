// SPDX-License-Identifier: BSD-3-Clause
// Counters of network file systems from recorded samples: what went over the network is counted,
// not what programs asked of the cache.
#include "parallel/client_counters.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace effio {
namespace {

// As a client with an NFSv4.2 mount shows it: 3 GiB were requested by read(2), 1 GiB of them came
// from the server; what was written went there once.
constexpr const char* mountstats =
    "device proc mounted on /proc with fstype proc\n"
    "device filer:/export/scratch mounted on /scratch with fstype nfs4 statvers=1.1\n"
    "\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp\n"
    "\tage:\t86400\n"
    "\tevents:\t52 1024 0 0 14 9 2103 4096 0 16 0 1024 0 3 1 0 0 9 0 0 0 0 0 0 0 0 0\n"
    "\tbytes:\t3221225472 536870912 0 0 1073741824 536870912 262144 131072\n"
    "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
    "\txprt:\ttcp 842 0 1 0 12 6144 6144 0 6144 0 2 0 0\n"
    "\tper-op statistics\n"
    "\t        READ: 1024 1024 0 237568 1073889280 12 5120 5140 0\n"
    "device filer:/export/scratch/home mounted on /scratch/home with fstype nfs4 statvers=1.1\n"
    "\tbytes:\t10 20 30 40 50 60 0 0\n";

TEST(ClientCounters, of_nfs_are_those_of_the_mount_and_of_the_network) {
    const auto big = nfs_counters(mountstats, "/scratch");
    ASSERT_TRUE(big);
    EXPECT_EQ(big->read_bytes, 1073741824);
    EXPECT_EQ(big->written_bytes, 536870912);
    const auto home = nfs_counters(mountstats, "/scratch/home");
    ASSERT_TRUE(home);
    EXPECT_EQ(home->read_bytes, 50);
    EXPECT_EQ(home->written_bytes, 60);
    EXPECT_FALSE(nfs_counters(mountstats, "/proc"));
    EXPECT_FALSE(nfs_counters(mountstats, "/scratch/ho"));
    EXPECT_FALSE(nfs_counters("", "/scratch"));
    // A line that was cut off is ignored.
    EXPECT_FALSE(
        nfs_counters("device a:/b mounted on /b with fstype nfs\n\tbytes:\t1 2 3\n", "/b"));
}

constexpr const char* osc_stats =
    "snapshot_time             1523008010.817348638 secs.nsecs\n"
    "req_waittime              1042 samples [usec] 60 52123 1204312 99887766\n"
    "req_active                1042 samples [reqs] 1 8 2100 5500\n"
    "read_bytes                512 samples [bytes] 4096 4194304 1073741824 2251799813685248\n"
    "write_bytes               100 samples [bytes] 1048576 4194304 268435456 1125899906842624\n"
    "ost_read                  512 samples [usec] 300 40000 1000000 5000000000\n";

TEST(ClientCounters, of_lustre_are_the_sums_of_its_requests) {
    const auto found = lustre_counters(osc_stats);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->read_bytes, 1073741824);
    EXPECT_EQ(found->written_bytes, 268435456);
    // Nothing was moved yet: the lines are missing.
    const auto none = lustre_counters("snapshot_time 1.0 secs.nsecs\n");
    ASSERT_TRUE(none);
    EXPECT_EQ(none->read_bytes, 0);
    EXPECT_FALSE(lustre_counters("Permission denied\n"));
}

struct OfASystem : testing::Test {
    std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "effio-clients";
    OfASystem() { std::filesystem::remove_all(root); }
    ~OfASystem() override { std::filesystem::remove_all(root); }
    void put(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text;
    }
};

TEST_F(OfASystem, lustre_has_a_client_for_each_target_of_the_file_system) {
    put("sys/kernel/debug/lustre/osc/lfs-OST0000-osc-ffff8/stats", osc_stats);
    put("sys/kernel/debug/lustre/osc/lfs-OST0001-osc-ffff8/stats", osc_stats);
    put("sys/kernel/debug/lustre/osc/other-OST0000-osc-ffff9/stats", osc_stats);
    FileSystem fs;
    fs.type = "lustre";
    fs.source = "10.0.0.1@tcp:10.0.0.2@tcp:/lfs/projects";
    EXPECT_EQ(client_of(fs), "lustre");
    const auto found = client_counters(fs, root.string());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->read_bytes, 2 * 1073741824LL);
    EXPECT_EQ(found->written_bytes, 2 * 268435456LL);
    // One that cannot be read makes the sum unknown.
    put("sys/kernel/debug/lustre/osc/lfs-OST0002-osc-ffff8/state", "");
    EXPECT_FALSE(client_counters(fs, root.string()));
    fs.source = "nonsense";
    EXPECT_FALSE(client_counters(fs, root.string()));
}

TEST_F(OfASystem, nfs_is_found_by_its_mount_point) {
    put("proc/self/mountstats", mountstats);
    FileSystem fs;
    fs.type = "nfs4";
    fs.mount_point = "/scratch";
    EXPECT_EQ(client_of(fs), "nfs");
    EXPECT_EQ(client_counters(fs, root.string())->read_bytes, 1073741824);
    fs.mount_point = "/elsewhere";
    EXPECT_FALSE(client_counters(fs, root.string()));
}

TEST(ClientCounters, gpfs_and_beegfs_have_none_and_say_why) {
    FileSystem fs;
    for (const char* type : {"gpfs", "beegfs", "lustre", "nfs"}) {
        fs.type = type;
        EXPECT_NE(why_no_client_counters(fs), "") << type;
    }
    fs.type = "gpfs";
    EXPECT_EQ(client_of(fs), "");
    EXPECT_FALSE(client_counters(fs));
    fs.type = "ext4";
    EXPECT_EQ(why_no_client_counters(fs), "");
}

}  // namespace
}  // namespace effio
