// SPDX-License-Identifier: BSD-3-Clause
// The stonewall of IOR and mdtest in virtual time, where every number is known beforehand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "parallel/pace.hpp"

namespace effio {
namespace {

/// Operations of `each` seconds until the policy stops.
void work(Clock& clock, Deadline& pace, double each) {
    do {
        clock.advance(each);
    } while (pace.go_on());
}

TEST(Deadline, the_operation_that_ends_past_the_deadline_is_the_last) {
    Clock clock(Clock::Kind::virtual_time);
    const std::atomic<bool> stop{false};
    Deadline pace(clock, stop, {clock.now(), 1.0, 0});
    work(clock, pace, 0.375);
    EXPECT_EQ(pace.done(), 3);  // ends at 1.125
    EXPECT_EQ(pace.reason(), StopReason::time);
}

TEST(Deadline, a_count_ends_it_even_where_the_deadline_falls_on_the_same_operation) {
    Clock clock(Clock::Kind::virtual_time);
    const std::atomic<bool> stop{false};
    Deadline pace(clock, stop, {clock.now(), 1.0, 4});
    work(clock, pace, 0.25);
    EXPECT_EQ(pace.done(), 4);
    EXPECT_EQ(pace.reason(), StopReason::count);
}

TEST(Deadline, a_signal_ends_it_after_the_operation_in_work) {
    Clock clock(Clock::Kind::virtual_time);
    const std::atomic<bool> stop{true};
    Deadline pace(clock, stop, {});
    work(clock, pace, 1);
    EXPECT_EQ(pace.done(), 1);
    EXPECT_EQ(pace.reason(), StopReason::interrupted);
}

TEST(Deadline, wear_out_brings_every_worker_to_the_largest_count) {
    Clock clock(Clock::Kind::virtual_time);
    const Comm comm = Comm::world(clock);
    const std::atomic<bool> stop{false};
    // An operation of rank r takes (r + 1) / 4 s: by 2 s rank r has done ceil(8 / (r + 1)).
    const double each = 0.25 * (comm.rank() + 1);
    const double start = clock.now();
    Deadline pace(clock, stop, {start, 2.0, 100});
    work(clock, pace, each);
    EXPECT_EQ(pace.done(), (8 + comm.rank()) / (comm.rank() + 1));

    const StopPoint mine{pace.done(), clock.now() - start, pace.reason()};
    const Wall wall = meet_at_wall(comm, std::span(&mine, 1));
    const int last = comm.size() - 1;
    EXPECT_EQ(wall.max_done, 8);
    EXPECT_EQ(wall.min_done, (8 + last) / (last + 1));
    EXPECT_DOUBLE_EQ(wall.first_seconds, 2.0);
    double latest = 0;
    double sum = 0;
    for (int r = 0; r < comm.size(); ++r) {
        const int done = (8 + r) / (r + 1);
        sum += done;
        latest = std::max(latest, 0.25 * (r + 1) * done);
    }
    EXPECT_DOUBLE_EQ(wall.last_seconds, latest);
    EXPECT_DOUBLE_EQ(wall.mean_done, sum / comm.size());
    EXPECT_EQ(wall.workers, comm.size());
    EXPECT_EQ(wall.timed_out, comm.size());
    EXPECT_FALSE(wall.interrupted);

    pace.wear_out(wall.max_done);
    if (pace.done() < wall.max_done) work(clock, pace, each);
    EXPECT_EQ(pace.done(), 8);
}

TEST(Deadline, the_wall_counts_every_worker_of_a_rank) {
    Clock clock(Clock::Kind::virtual_time);
    const Comm comm = Comm::world(clock);
    const std::array<StopPoint, 2> mine{StopPoint{5, 1.5, StopReason::count},
                                        StopPoint{3, 2.5, StopReason::interrupted}};
    const Wall wall = meet_at_wall(comm, mine);
    EXPECT_EQ(wall.workers, 2 * comm.size());
    EXPECT_EQ(wall.min_done, 3);
    EXPECT_EQ(wall.max_done, 5);
    EXPECT_DOUBLE_EQ(wall.mean_done, 4);
    EXPECT_DOUBLE_EQ(wall.first_seconds, 1.5);
    EXPECT_DOUBLE_EQ(wall.last_seconds, 2.5);
    EXPECT_EQ(wall.timed_out, 0);
    EXPECT_TRUE(wall.interrupted);
}

}  // namespace
}  // namespace effio
