// SPDX-License-Identifier: BSD-3-Clause
// Waiting until what another node has done to a file is seen here. Another thread plays that node.
#include "storage/late_views.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "storage/posix_calls.hpp"
#include "storage/run_file.hpp"

namespace effio {
namespace {

void make(const std::string& path, std::int64_t bytes) {
    const auto fd = open_file(path, O_WRONLY | O_CREAT);
    ASSERT_TRUE(fd);
    ASSERT_EQ(ftruncate(fd->get(), bytes), 0);
}

/// After a moment, on the root.
template <class Work>
std::thread later(const Comm& comm, Work work) {
    if (!comm.is_root()) return std::thread([] {});
    return std::thread([work] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        work();
    });
}

TEST(LateViews, a_size_is_looked_at_again_only_where_views_may_be_late) {
    TestSession here;
    const SharedDirectory place(here.comm);
    const std::string path = place / "file";
    if (here.comm.is_root()) make(path, 10);
    here.comm.barrier();
    EXPECT_EQ(*size_of_late(here.session, path, 20), 10);
    EXPECT_FALSE(size_of_late(here.session, path + ".none", 1));
    here.comm.barrier();
    here.session.late_views = true;
    auto other = later(here.comm, [&] { make(path, 20); });
    EXPECT_EQ(*size_of_late(here.session, path, 20), 20);
    other.join();
}

TEST(LateViews, a_name_that_one_rank_does_not_find_is_waited_for_by_the_others) {
    TestSession here;
    here.session.late_views = true;
    const SharedDirectory place(here.comm);
    // Each rank its own name: the root's is gone, the other's goes later.
    const std::string path = place / std::to_string(here.comm.rank());
    std::thread other([] {});
    if (!here.comm.is_root()) {
        make(path, 1);
        other.join();
        other = std::thread([path] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            unlink(path.c_str());
        });
    }
    wait_until_gone(here.session, here.comm, path);
    EXPECT_NE(access(path.c_str(), F_OK), 0);
    other.join();
}

TEST(LateViews, a_name_that_all_ranks_find_stays) {
    TestSession here;
    here.session.late_views = true;
    const SharedDirectory place(here.comm);
    if (here.comm.is_root()) make(place / "file", 1);
    here.comm.barrier();
    const double start = Clock::monotonic_seconds();
    wait_until_gone(here.session, here.comm, place / "file");
    EXPECT_LT(Clock::monotonic_seconds() - start, longest_late_view);
    EXPECT_EQ(access((place / "file").c_str(), F_OK), 0);
    here.comm.barrier();
}

TEST(LateViews, ranks_that_create_a_file_together_open_the_same) {
    TestSession here;
    here.session.late_views = true;
    const SharedDirectory place(here.comm);
    OpenMode mode;
    mode.read = mode.write = mode.create = true;
    for (const bool exclusive : {false, true}) {
        mode.exclusive = exclusive;
        const std::string path = place / (exclusive ? "new" : "any");
        auto opened = open_together(here.session, here.comm, path, mode);
        ASSERT_TRUE(opened);
        if (here.comm.is_root()) {
            ASSERT_EQ(ftruncate(opened->get(), 7), 0);
        }
        here.comm.barrier();
        EXPECT_EQ(*size_of(opened->get(), path), 7);
        here.comm.barrier();
    }
}

}  // namespace
}  // namespace effio
