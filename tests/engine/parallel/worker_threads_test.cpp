// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/worker_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace effio {
namespace {

TEST(WorkerThreads, all_threads_work_and_number_0_is_the_caller) {
    WorkerThreads threads(3);
    std::atomic<int> sum{0};
    std::thread::id first;
    threads.run([&](int number) {
        sum += 1 << number;
        if (number == 0) first = std::this_thread::get_id();
    });
    EXPECT_EQ(sum.load(), 7);
    EXPECT_EQ(first, std::this_thread::get_id());
}

TEST(WorkerThreads,
     at_a_meeting_all_have_come_before_number_0_acts_and_no_thread_leaves_before_it_did) {
    WorkerThreads threads(4);
    std::atomic<int> came{0};
    int seen = 0;
    std::atomic<int> too_early{0};
    threads.run([&](int number) {
        for (int round = 1; round <= 50; ++round) {
            ++came;
            threads.meet(number, [&] { seen = came.load(); });
            // `seen` was written before the barrier that lets the others continue.
            if (seen != 4 * round) ++too_early;
            threads.meet(number, [] {});
        }
    });
    EXPECT_EQ(too_early.load(), 0);
}

TEST(WorkerThreads, one_thread_needs_no_other) {
    WorkerThreads threads(1);
    int calls = 0;
    threads.run([&](int number) {
        threads.meet(number, [&] { ++calls; });
        ++calls;
    });
    EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace effio
