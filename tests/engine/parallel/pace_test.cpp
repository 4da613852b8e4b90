// SPDX-License-Identifier: BSD-3-Clause
// FixedCount and b_eff_io's root vote, in virtual time. (Deadlines: deadline_test.cpp; loop
// lengths: loop_lengths_test.cpp.)
#include "parallel/pace.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

namespace effio {
namespace {

struct Ranks {
    Ranks() { clock.set_collective_cost(0); }
    Clock clock{Clock::Kind::virtual_time};
    Comm comm = Comm::world(clock);
    std::atomic<bool> stop{false};

    RootVote vote(double budget, std::int64_t max_count = 0) {
        return {comm, stop, {clock.now(), budget, max_count}};
    }
    /// Operations of `each` seconds on this rank until the vote is to stop.
    void work(RootVote& vote, double each) {
        do {
            clock.advance(each);
        } while (vote.go_on());
    }
};

TEST(FixedCount, does_as_many_and_at_least_one) {
    for (const std::int64_t count : {1, 2, 5}) {
        FixedCount pace(count);
        int done = 1;
        while (pace.go_on()) ++done;
        EXPECT_EQ(done, count);
        EXPECT_EQ(pace.done(), count);
        EXPECT_EQ(pace.reason(), StopReason::count);
    }
    FixedCount none(0);
    EXPECT_FALSE(none.go_on());
}

TEST(RootVote, stops_when_one_more_operation_is_predicted_to_overrun) {
    // 0.3 s each, budget 1 s: (r+1) * 0.3 is 0.6, 0.9, 1.2 after r = 1, 2, 3.
    Ranks r;
    RootVote vote = r.vote(1.0);
    r.work(vote, 0.3);
    EXPECT_EQ(vote.done(), 3);
    EXPECT_EQ(vote.reason(), StopReason::time);
}

TEST(RootVote, an_operation_that_just_fits_is_done) {
    // 0.25 s each (exact in binary): after 3 the prediction is 0.75 * 4/3 = 1, which still fits.
    Ranks r;
    RootVote vote = r.vote(1.0);
    r.work(vote, 0.25);
    EXPECT_EQ(vote.done(), 4);
}

TEST(RootVote, predicts_by_the_average_not_by_the_last) {
    // 0.1, 0.1, 0.6: after the third 0.8 * 4/3 = 1.07 > 1. By the first two, five would fit.
    Ranks r;
    RootVote vote = r.vote(1.0);
    r.clock.advance(0.1);
    EXPECT_TRUE(vote.go_on());
    r.clock.advance(0.1);
    EXPECT_TRUE(vote.go_on());
    r.clock.advance(0.6);
    EXPECT_FALSE(vote.go_on());
    EXPECT_EQ(vote.done(), 3);
}

TEST(RootVote, what_passed_before_the_first_operation_counts) {
    // 0.35 s before (setting a view), then 0.25 s each: (0.35 + 0.25 r)(r+1)/r is 1.2 after one.
    Ranks r;
    RootVote vote = r.vote(1.0);
    r.clock.advance(0.35);
    r.work(vote, 0.25);
    EXPECT_EQ(vote.done(), 1);
}

TEST(RootVote, barriers_and_broadcasts_are_inside) {
    // 0.3 s each, 0.01 s for a barrier and for a broadcast: after r operations the root has seen
    // 0.3 r + 0.01 r + 0.01 (r-1) s. Budget 0.95: 0.31 * 2 = 0.62, 0.63 * 3/2 = 0.945 continue,
    // 0.95 * 4/3 stops.
    Ranks r;
    r.clock.set_collective_cost(0.01);
    RootVote vote = r.vote(0.95);
    r.work(vote, 0.3);
    EXPECT_EQ(vote.done(), 3);
    EXPECT_NEAR(vote.broadcast_seconds(), 3 * 0.01, 1e-12);
    EXPECT_NEAR(vote.barrier_seconds(), 3 * 0.01, 1e-12);
    EXPECT_NEAR(vote.last_vote_seconds(), 0.02, 1e-12);
    EXPECT_NEAR(r.clock.now(), 3 * 0.32, 1e-12);
}

TEST(RootVote, the_slowest_rank_decides_and_the_others_wait_in_the_barrier) {
    Ranks r;
    const int last = r.comm.size() - 1;
    RootVote vote = r.vote(1.0);
    r.work(vote, 0.125 * (r.comm.rank() + 1));
    // The slowest takes 0.125 * size: floor(8 / size) fit.
    EXPECT_EQ(vote.done(), 8 / r.comm.size());
    EXPECT_DOUBLE_EQ(vote.barrier_seconds(),
                     0.125 * (last - r.comm.rank()) * static_cast<double>(vote.done()));
    EXPECT_EQ(vote.broadcast_seconds(), 0);
}

TEST(RootVote, one_operation_is_done_without_any_budget) {
    Ranks r;
    RootVote vote = r.vote(0);
    r.work(vote, 5);
    EXPECT_EQ(vote.done(), 1);
    EXPECT_EQ(vote.reason(), StopReason::time);
}

TEST(RootVote, the_cap_ends_what_time_would_let_continue) {
    Ranks r;
    RootVote capped = r.vote(100, 4);
    r.work(capped, 1);
    EXPECT_EQ(capped.done(), 4);
    EXPECT_EQ(capped.reason(), StopReason::cap);
    // Where both end it, it was the time: the cap cut nothing short.
    RootVote both = r.vote(4, 4);
    r.work(both, 1);
    EXPECT_EQ(both.done(), 4);
    EXPECT_EQ(both.reason(), StopReason::time);
}

TEST(RootVote, the_root_sees_the_signal) {
    Ranks r;
    r.stop = r.comm.is_root();
    RootVote vote = r.vote(100);
    r.work(vote, 1);
    EXPECT_EQ(vote.done(), 1);
    EXPECT_EQ(vote.reason(), StopReason::interrupted);
}

TEST(RootVote, a_failure_on_the_root_stops_all) {
    Ranks r;
    RootVote vote = r.vote(100);
    r.clock.advance(1);
    ASSERT_TRUE(vote.go_on());
    if (r.comm.is_root()) vote.failed();
    r.clock.advance(1);
    EXPECT_FALSE(vote.go_on());
    EXPECT_EQ(vote.reason(), StopReason::error);
    EXPECT_EQ(vote.done(), 2);
}

TEST(Pace, every_reason_has_its_own_name) {
    std::set<std::string_view> names;
    for (const StopReason reason : {StopReason::none, StopReason::count, StopReason::time,
                                    StopReason::cap, StopReason::interrupted, StopReason::error}) {
        names.insert(name(reason));
    }
    EXPECT_EQ(names.size(), 6U);
    EXPECT_TRUE(names.contains("time"));
}

}  // namespace
}  // namespace effio
