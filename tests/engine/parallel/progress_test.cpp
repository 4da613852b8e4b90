// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/progress.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace effio {
namespace {

TEST(Progress, a_step_starts_its_bytes_at_zero) {
    Progress p;
    p.moved(100);
    p.begin({"write", "/f", 2.5, 3, 0.25, 60, 4, 1000});
    p.moved(10);
    p.moved(5);
    p.call("MPI_File_write");
    const auto s = p.snapshot();
    EXPECT_EQ(s.step.title, "write");
    EXPECT_EQ(s.step.path, "/f");
    EXPECT_EQ(s.step.scheduled_seconds, 2.5);
    EXPECT_EQ(s.step.allowance_seconds, 3);
    EXPECT_EQ(s.step.plan_done, 0.25);
    EXPECT_EQ(s.step.plan_seconds_left, 60);
    EXPECT_EQ(s.step.ranks, 4);
    EXPECT_EQ(s.step.planned_bytes, 1000);
    EXPECT_EQ(s.bytes_in_step, 15);
    EXPECT_STREQ(s.call, "MPI_File_write");
    EXPECT_GT(s.step_started, 0);
}

TEST(Progress, every_call_and_beat_is_a_sign_of_life) {
    Progress p;
    const auto beats = [&] { return p.snapshot().beats; };
    auto before = beats();
    p.beat();
    EXPECT_EQ(beats(), before + 1);
    p.call("x");
    EXPECT_EQ(beats(), before + 2);
    p.begin({});
    EXPECT_EQ(beats(), before + 3);
    p.allow(7);
    EXPECT_EQ(beats(), before + 4);
    EXPECT_EQ(p.snapshot().step.allowance_seconds, 7);
    p.moved(1);  // bytes come with a call
    EXPECT_EQ(beats(), before + 4);
}

TEST(Progress, a_rank_waits_for_others_until_its_next_call) {
    Progress p;
    EXPECT_FALSE(p.snapshot().waits);
    const auto before = p.snapshot().beats;
    p.wait("barrier");
    EXPECT_TRUE(p.snapshot().waits);
    EXPECT_STREQ(p.snapshot().call, "barrier");
    EXPECT_EQ(p.snapshot().beats, before + 1);
    p.beat();
    EXPECT_TRUE(p.snapshot().waits);
    p.call("pwrite");
    EXPECT_FALSE(p.snapshot().waits);
}

TEST(Progress, another_thread_may_look_at_any_time) {
    Progress p;
    std::jthread reader([&p](const std::stop_token& token) {
        while (!token.stop_requested()) {
            const auto s = p.snapshot();
            EXPECT_GE(s.bytes_in_step, 0);
            EXPECT_EQ(s.step.title.size() % 20, 0U);  // never half of a text
        }
    });
    for (int i = 0; i < 2000; ++i) {
        p.begin({i % 2 == 0 ? std::string(20, 'a') : std::string(40, 'b'), "", 0, 0, 0, 0, 1, 0});
        p.call("x");
        p.moved(1);
    }
}

}  // namespace
}  // namespace effio
