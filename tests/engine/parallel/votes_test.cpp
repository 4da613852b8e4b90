// SPDX-License-Identifier: BSD-3-Clause
// Policies that let all ranks stop together, in virtual time, where every number is known
// beforehand.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "parallel/pace.hpp"

namespace effio {
namespace {

struct Votes : testing::Test {
    Clock clock{Clock::Kind::virtual_time};
    Comm comm = Comm::world(clock);
    std::atomic<bool> stop{false};

    /// Collective operations of `each` seconds.
    void work(SlicedVote& pace, double each) {
        do {
            comm.join_clocks(each);
        } while (pace.go_on());
    }
};

TEST_F(Votes, a_deadline_is_met_with_a_vote_a_second_and_not_one_an_operation) {
    // 1/64 s an operation: a vote after the first, then one every 64 operations, as the deadline of
    // 10 s lies 640 - 1 operations later: 1 + 9 * 64 = 577, 63 more fit, 640 operations in all.
    SlicedVote pace(comm, stop, {clock.now(), 10.0, 0});
    work(pace, 1.0 / 64);
    EXPECT_EQ(pace.done(), 640);
    EXPECT_EQ(pace.reason(), StopReason::time);
    EXPECT_EQ(pace.votes(), 11);
}

TEST_F(Votes, a_count_is_never_exceeded) {
    SlicedVote pace(comm, stop, {clock.now(), 0, 100});
    work(pace, 1.0 / 64);
    EXPECT_EQ(pace.done(), 100);
    EXPECT_EQ(pace.reason(), StopReason::count);
    EXPECT_EQ(pace.votes(), 3);  // after 1, 65 and 100
}

TEST_F(Votes, all_ranks_stop_after_the_same_operation_though_their_clocks_differ) {
    // The operation is not collective here: rank r needs (r + 1) / 8 s. The slowest sets the pace.
    SlicedVote pace(comm, stop, {clock.now(), 2.0, 0});
    do {
        clock.advance(0.125 * (comm.rank() + 1));
    } while (pace.go_on());
    EXPECT_EQ(comm.min(pace.done()), comm.max(pace.done()));
    EXPECT_GE(comm.max(clock.now()), 2.0);
}

TEST_F(Votes, a_failure_on_one_rank_stops_all_at_the_next_vote) {
    SlicedVote pace(comm, stop, {clock.now(), 100.0, 0});
    do {
        comm.join_clocks(0.25);
        if (comm.rank() == comm.size() - 1 && pace.done() == 6) pace.failed();
    } while (pace.go_on());
    EXPECT_EQ(pace.reason(), StopReason::error);
    EXPECT_EQ(pace.done(), 9);  // votes after 1, 5, 9
}

TEST_F(Votes, a_signal_on_one_rank_stops_all) {
    stop = comm.rank() == 0;
    SlicedVote pace(comm, stop, {clock.now(), 100.0, 0});
    work(pace, 0.25);
    EXPECT_EQ(pace.reason(), StopReason::interrupted);
    EXPECT_EQ(pace.done(), 1);
}

TEST_F(Votes, a_minimum_of_time_outlasts_the_count) {
    SlicedVote pace(comm, stop, {clock.now(), 0, 8, 4.0});
    work(pace, 0.25);
    EXPECT_EQ(pace.done(), 16);
    EXPECT_EQ(pace.reason(), StopReason::count);
}

/// As where several operations are under way: what was begun before is counted.
TEST_F(Votes, after_a_stop_no_rank_votes_on_what_was_under_way) {
    SlicedVote pace(comm, stop, {clock.now(), 2.0, 0});
    EXPECT_EQ(pace.most(), std::numeric_limits<std::int64_t>::max());
    work(pace, 0.25);
    EXPECT_EQ(pace.done(), 8);
    const auto votes = pace.votes();
    for (int i = 0; i < 20; ++i) pace.go_on();
    EXPECT_EQ(pace.done(), 28);
    EXPECT_EQ(pace.votes(), votes);
    EXPECT_EQ(pace.reason(), StopReason::time);
    EXPECT_EQ(SlicedVote(comm, stop, {clock.now(), 0, 100}).most(), 100);
    EXPECT_EQ(SlicedVote(comm, stop, {clock.now(), 0, 100, 4.0}).most(),
              std::numeric_limits<std::int64_t>::max());
}

TEST_F(Votes, a_steady_rate_ends_collective_work) {
    // 16 operations of 1/16 s, then twice as fast: 16/s in the first slice, 32/s in all others. A
    // window of 3 is steady first when it holds three slices of 32/s.
    SlicedVote pace(comm, stop, {clock.now(), 100.0, 0}, SteadyRule::Settings{3, 0.1});
    do {
        comm.join_clocks(pace.done() < 16 ? 1.0 / 16 : 1.0 / 32);
    } while (pace.go_on());
    EXPECT_EQ(pace.reason(), StopReason::steady);
    ASSERT_TRUE(pace.verdict());
    EXPECT_TRUE(pace.verdict()->steady);
    EXPECT_LT(clock.now(), 8);
    EXPECT_GT(clock.now(), 3.5);
}

TEST_F(Votes, a_steady_rate_ends_independent_work_on_all_ranks) {
    // Slices of a second: rank r moves 100 a second, half of that in the first two seconds.
    const double start = clock.now();
    SteadyWatch watch(comm, {3, 0.1}, start);
    std::atomic<StopReason> stopped_elsewhere{StopReason::none};
    Deadline pace(clock, stop, {start, 100.0, 0}, &stopped_elsewhere);
    std::int64_t bytes = 0;
    do {
        clock.advance(0.5);
        bytes += clock.now() - start <= 2.0 ? 25 : 50;
        if (watch.poll(clock.now(), bytes)) stopped_elsewhere = StopReason::steady;
    } while (pace.go_on());
    watch.finish([] {});
    EXPECT_EQ(pace.reason(), StopReason::steady);
    // Slices at 50, 50, 100, 100, 100 a second and rank: the window is steady after the fifth.
    EXPECT_EQ(pace.done(), 10);
    EXPECT_DOUBLE_EQ(watch.verdict()->mean, 100.0 * comm.size());
}

TEST_F(Votes, ranks_that_finish_early_keep_in_step_with_the_others) {
    const double start = clock.now();
    SteadyWatch watch(comm, {50, 0.1}, start);
    Deadline pace(clock, stop, {start, 0, comm.rank() == 0 ? 3 : 12});
    std::int64_t bytes = 0;
    int beats = 0;
    do {
        clock.advance(1);
        watch.poll(clock.now(), ++bytes);
    } while (pace.go_on());
    watch.finish([&beats] { ++beats; });
    EXPECT_FALSE(watch.steady());
    EXPECT_EQ(pace.done(), comm.rank() == 0 ? 3 : 12);
}

TEST_F(Votes, a_deadline_with_a_minimum_of_time_goes_beyond_the_count) {
    Deadline pace(clock, stop, {clock.now(), 0, 4, 2.0});
    do {
        clock.advance(0.25);
    } while (pace.go_on());
    EXPECT_EQ(pace.done(), 8);
    EXPECT_EQ(pace.reason(), StopReason::count);
}

TEST_F(Votes, a_failed_operation_is_the_last_of_its_worker) {
    Deadline pace(clock, stop, {clock.now(), 100.0, 0});
    clock.advance(1);
    pace.failed();
    EXPECT_FALSE(pace.go_on());
    EXPECT_EQ(pace.reason(), StopReason::error);
}

TEST_F(Votes, a_share_of_the_cap_is_reported_from_a_planned_count) {
    Deadline pace(clock, stop, {clock.now(), 100.0, 1, 0, StopReason::cap});
    clock.advance(1);
    EXPECT_FALSE(pace.go_on());
    EXPECT_EQ(pace.reason(), StopReason::cap);
}

}  // namespace
}  // namespace effio
