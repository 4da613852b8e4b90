// SPDX-License-Identifier: BSD-3-Clause
// The verdict and its reason from handwritten counters.
#include <gtest/gtest.h>

#include "core/units.hpp"
#include "storage/cache_watch.hpp"

namespace effio {
namespace {

FileSystem of_type(const std::string& type) {
    FileSystem fs;
    fs.type = type;
    fs.memory_backed = type == "tmpfs";
    return fs;
}

CacheEvidence counted(std::int64_t process_read, std::int64_t process_written,
                      std::int64_t device_read, std::int64_t device_written) {
    CacheEvidence e;
    e.process_read = process_read;
    e.process_written = process_written;
    e.device_read = device_read;
    e.device_written = device_written;
    return e;
}

CacheEvidence judged(CacheEvidence e, std::int64_t bytes, bool reading, const std::string& type) {
    const FileSystem fs = of_type(type);
    judge(e, bytes, reading, &fs);
    return e;
}

TEST(CacheJudge, reads_of_others_do_not_make_our_reads_come_from_the_device) {
    const auto ours = judged(counted(100 * MiB, 0, 100 * MiB, 0), 100 * MiB, true, "ext4");
    EXPECT_EQ(ours.verdict, Whereabouts::device);
    EXPECT_EQ(ours.reason, "100 MiB of 100 MiB came from the device");
    EXPECT_EQ(ours.others, 0);
    const auto theirs = judged(counted(0, 0, 100 * MiB, 7 * MiB), 100 * MiB, true, "ext4");
    EXPECT_EQ(theirs.verdict, Whereabouts::cache);
    EXPECT_EQ(theirs.others, 107 * MiB);
    EXPECT_EQ(
        theirs.reason,
        "0 B of 100 MiB came from the device; in addition, the device moved 107 MiB for other "
        "processes or the file system");
    const auto both = judged(counted(50 * MiB, 0, 200 * MiB, 0), 100 * MiB, true, "ext4");
    EXPECT_EQ(both.verdict, Whereabouts::mixed);
    EXPECT_EQ(both.others, 150 * MiB);
    EXPECT_DOUBLE_EQ(*ours.storage_fraction, 1);
    EXPECT_DOUBLE_EQ(*theirs.storage_fraction, 0);
    EXPECT_DOUBLE_EQ(*both.storage_fraction, 0.5);
}

TEST(CacheJudge, the_bounds_are_95_and_5_per_cent) {
    const auto verdict = [](std::int64_t read) {
        return judged(counted(read, 0, read, 0), 1000 * MiB, true, "ext4").verdict;
    };
    EXPECT_EQ(verdict(950 * MiB), Whereabouts::device);
    EXPECT_EQ(verdict(949 * MiB), Whereabouts::mixed);
    EXPECT_EQ(verdict(51 * MiB), Whereabouts::mixed);
    EXPECT_EQ(verdict(50 * MiB), Whereabouts::cache);
}

TEST(CacheJudge, a_program_that_serves_files_is_charged_instead_of_us) {
    EXPECT_EQ(judged(counted(0, 0, 100 * MiB, 0), 100 * MiB, true, "fuseblk").verdict,
              Whereabouts::device);
}

TEST(CacheJudge, writes_are_judged_by_the_device_and_show_what_a_sync_need_not_write) {
    auto e = counted(0, 100 * MiB, 0, 10 * MiB);
    e.unwritten = 90 * MiB;
    const auto seen = judged(e, 100 * MiB, false, "ext4");
    EXPECT_EQ(seen.verdict, Whereabouts::mixed);
    EXPECT_EQ(seen.reason,
              "10 MiB of 100 MiB had reached the device by the end of the interval; the sync need "
              "not write 90 MiB");
    // Pages that are written twice before they are sent are charged once.
    EXPECT_EQ(judged(counted(0, 50 * MiB, 0, 100 * MiB), 100 * MiB, false, "ext4").others, 0);
}

TEST(CacheJudge, what_others_wrote_is_not_evidence_of_ours) {
    // Found in a run: 12.7 MB at the device for 128 KiB of ours counted as "on the device".
    const auto theirs = judged(counted(0, 128 * KiB, 0, 12'700'000), 128 * KiB, false, "ext4");
    EXPECT_EQ(theirs.verdict, Whereabouts::unknown);
    EXPECT_FALSE(theirs.storage_fraction);
    EXPECT_EQ(theirs.others, 12'700'000 - 128 * KiB);
    EXPECT_TRUE(theirs.reason.starts_with("others wrote ")) << theirs.reason;
    // No more than the processes were charged for.
    EXPECT_EQ(judged(counted(0, 50 * MiB, 0, 100 * MiB), 100 * MiB, false, "ext4").verdict,
              Whereabouts::mixed);
    // Too little for all of ours, whoever wrote it.
    EXPECT_EQ(judged(counted(0, 100 * MiB, 0, MiB), 100 * MiB, false, "ext4").verdict,
              Whereabouts::cache);
}

TEST(CacheJudge, memory_is_not_storage) {
    const auto e = judged(counted(0, 0, 0, 0), MiB, true, "tmpfs");
    EXPECT_EQ(e.verdict, Whereabouts::cache);
    EXPECT_EQ(e.reason, "memory is the storage (tmpfs): nothing of it can be dropped");
}

TEST(CacheJudge, where_there_is_no_device_the_client_shows) {
    CacheEvidence e;
    e.process_read = 0;
    e.client_read = 100 * MiB;
    e.client_written = 0;
    EXPECT_EQ(judged(e, 100 * MiB, true, "nfs4").verdict, Whereabouts::device);
    EXPECT_EQ(judged(e, 100 * MiB, true, "nfs4").reason,
              "100 MiB of 100 MiB came from the servers");
    e.client_read = MiB;
    EXPECT_EQ(judged(e, 100 * MiB, true, "nfs4").verdict, Whereabouts::cache);
    e.client_written = 100 * MiB;
    EXPECT_EQ(judged(e, 100 * MiB, false, "lustre").verdict, Whereabouts::device);
}

TEST(CacheJudge, what_cannot_be_reported_says_why) {
    CacheEvidence none;
    none.process_read = 0;
    EXPECT_EQ(judged(none, MiB, true, "beegfs").verdict, Whereabouts::unknown);
    EXPECT_NE(judged(none, MiB, true, "gpfs").reason.find("mmpmon"), std::string::npos);
    EXPECT_EQ(judged(none, MiB, true, "zfs").reason,
              "no counter of this system shows what came from storage");
    EXPECT_EQ(judged(none, 0, true, "ext4").reason, "nothing was moved");
    // What a process was charged for is evidence; that it was not is none.
    none.process_read = MiB;
    EXPECT_EQ(judged(none, MiB, true, "btrfs").verdict, Whereabouts::device);
}

}  // namespace
}  // namespace effio
