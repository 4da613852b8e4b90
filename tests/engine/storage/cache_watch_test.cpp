// SPDX-License-Identifier: BSD-3-Clause
// Evidence of where bytes came from. What a file system without a block device or a shared machine
// cannot report is not requested.
#include "storage/cache_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

struct Cache : testing::Test {
    TestSession at;
    SharedDirectory directory{at.comm};
    Topology topology = find_topology(at.comm);
    std::string path = directory / ("data" + std::to_string(at.comm.rank()));
    std::optional<FileSystem> file_system = [this] {
        auto found = find_file_system(directory.path());
        return found ? std::optional(*found) : std::nullopt;
    }();
    Buffer data{1 << 20};

    void write_and_sync() {
        Pattern(1, 1).fill(data.bytes(), 0);
        const auto fd = open_file(path, O_WRONLY | O_CREAT);
        ASSERT_TRUE(fd);
        ASSERT_TRUE(pwrite_all(fd->get(), path, data.bytes(), 0));
        ASSERT_EQ(fsync(fd->get()), 0);
    }
    void read() {
        const auto fd = open_file(path, O_RDONLY);
        ASSERT_TRUE(fd);
        ASSERT_TRUE(pread_all(fd->get(), path, data.bytes(), 0));
    }
    bool on_disk() const {
        return file_system && file_system->device && !file_system->memory_backed;
    }
};

TEST_F(Cache, what_was_just_written_is_resident_until_it_is_dropped) {
    // The best of five attempts: the system takes pages away when others need memory.
    const auto most_resident = [this](const auto& touch) {
        double most = 0;
        for (int attempt = 0; attempt < 5 && most <= 0.9; ++attempt) {
            touch();
            most = std::max(most, resident_fraction(path).value_or(0));
        }
        return most;
    };
    const double written = most_resident([this] { write_and_sync(); });
    EXPECT_GT(written, 0.9);
    EXPECT_LE(written, 1.0);
    const auto dropped = drop_from_cache(path);
    ASSERT_TRUE(dropped);
    if (on_disk()) {
        EXPECT_LT(*dropped, 0.5);
        EXPECT_GT(most_resident([this] { read(); }), 0.9);
    } else {
        EXPECT_LE(*dropped, 1.0);
    }
}

TEST_F(Cache, an_empty_or_missing_file_has_no_fraction) {
    EXPECT_FALSE(resident_fraction(path));
    EXPECT_FALSE(drop_from_cache(path));
    ASSERT_TRUE(open_file(path, O_WRONLY | O_CREAT));
    EXPECT_FALSE(resident_fraction(path));
}

TEST_F(Cache, synced_writes_and_reads_after_a_drop_come_from_the_device) {
    if (!on_disk()) GTEST_SKIP() << "no block device below " << directory.path();
    const std::int64_t all = (std::int64_t{1} << 20) * at.comm.size();
    CacheWatch watch(at.comm, topology, file_system);
    // One rank counts for the node: none moves before it began, or after it looked again.
    watch.begin();
    at.comm.barrier();
    write_and_sync();
    at.comm.barrier();
    watch.synced();
    const auto written = watch.end(all, false);
    // If others write meanwhile, it is unknown which bytes were ours.
    const bool others = written.others.value_or(0) > (std::int64_t{1} << 20);
    EXPECT_EQ(written.verdict, others ? Whereabouts::unknown : Whereabouts::device);
    ASSERT_TRUE(written.unwritten);
    EXPECT_LT(*written.unwritten, all / 20);
    ASSERT_TRUE(written.process_written);
    EXPECT_GE(*written.process_written, all);

    ASSERT_TRUE(drop_from_cache(path));
    watch.begin();
    at.comm.barrier();
    read();
    at.comm.barrier();
    const auto fetched = watch.end(all, true);
    EXPECT_EQ(fetched.verdict, Whereabouts::device);
    ASSERT_TRUE(fetched.process_read);
    EXPECT_GE(*fetched.process_read, all);
    EXPECT_FALSE(fetched.unwritten);
    // Once more, now from memory: the processes fetch nothing, whatever the device does for others.
    watch.begin();
    read();
    const auto again = watch.end(all, true);
    EXPECT_LT(*again.process_read, all / 20);
    EXPECT_EQ(again.verdict, Whereabouts::cache);
}

TEST_F(Cache, nothing_moved_is_not_evidence) {
    CacheWatch watch(at.comm, topology, file_system);
    watch.begin();
    EXPECT_EQ(watch.end(0, true).verdict, Whereabouts::unknown);
    CacheWatch blind(at.comm, topology, std::nullopt);
    blind.begin();
    const auto seen = blind.end(1 << 20, true);
    EXPECT_FALSE(seen.device_read);
    EXPECT_EQ(seen.verdict,
              Whereabouts::unknown);  // counters that do not change may not count at all
}

}  // namespace
}  // namespace effio
