// SPDX-License-Identifier: BSD-3-Clause
// The computation: how long, when it asks, and that it is done at all.
#include "benchmarks/overlap/work.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "test_session.hpp"

namespace effio::overlap {
namespace {

TEST(OverlapWork, takes_exactly_this_long_in_virtual_time_and_asks_evenly) {
    TestSession at(Clock::Kind::virtual_time);
    Work work(at.session, WorkKind::compute, 0);
    work.calibrate();
    EXPECT_EQ(work.piece_seconds(), 0);
    const Polls plan = work.plan(0.5, 4);
    EXPECT_EQ(plan.units, 5);
    std::vector<double> asked;
    const auto done = work.run(plan, 0.5, [&] {
        asked.push_back(at.clock.now());
        at.clock.advance(0.125);  // what the call itself takes
        return true;
    });
    EXPECT_EQ(done.polls, 4);
    EXPECT_NEAR(done.seconds, 0.5, 1e-12);
    EXPECT_NEAR(done.poll_seconds, 0.5, 1e-12);
    EXPECT_NEAR(at.clock.now(), 1, 1e-12);
    ASSERT_EQ(asked.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        const auto k = static_cast<double>(i);
        EXPECT_NEAR(asked[i], 0.1 * (k + 1) + 0.125 * k, 1e-12);
    }
}

TEST(OverlapWork, asks_no_more_once_it_was_reported_that_all_is_over) {
    TestSession at(Clock::Kind::virtual_time);
    Work work(at.session, WorkKind::compute, 0);
    int asked = 0;
    const auto done = work.run(work.plan(1, 9), 1, [&] { return ++asked < 3; });
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(done.polls, 3);
    EXPECT_NEAR(done.seconds, 1, 1e-12);
    EXPECT_EQ(work.run(work.plan(1, 0), 1, [&] { return ++asked < 99; }).polls, 0);
    EXPECT_EQ(work.run(work.plan(1, 5), 1, nullptr).polls, 0);
    EXPECT_EQ(asked, 3);
}

TEST(OverlapWork, is_as_many_pieces_as_fit_and_one_at_least) {
    TestSession at;
    Work work(at.session, WorkKind::compute, 0);
    work.calibrate();
    const double piece = work.piece_seconds();
    ASSERT_GT(piece, 0);
    EXPECT_EQ(work.plan(1000 * piece, 0).units, 1000);
    EXPECT_EQ(work.plan(piece / 1000, 0).units, 1);
    EXPECT_EQ(work.plan(piece / 1000, 7).units, 8);
    const auto done = work.run(work.plan(10 * piece, 0), 10 * piece, nullptr);
    EXPECT_GT(done.seconds, 0);
    EXPECT_EQ(done.poll_seconds, 0);
}

TEST(OverlapWork, chains_go_where_their_recurrence_leads) {
    // x -> a x + (1 - a) leads from x to 1 + a^n (x - 1); the last of the chains begins at 8.
    Kernel kernel(WorkKind::compute, 0);
    for (int i = 0; i < 3; ++i) kernel.step();
    EXPECT_NEAR(kernel.result(), 1 + 7 * std::pow(0.999999, 3 * Kernel::rounds), 1e-9);
}

TEST(OverlapWork, a_stream_goes_round_its_memory) {
    // Three pieces of each array; to -> to / 2 + 1, from 0: 1, 1.5, 1.75, …
    Kernel kernel(WorkKind::memory,
                  static_cast<std::int64_t>(std::size_t{6} * Kernel::piece * sizeof(double)));
    for (int round = 0; round < 3; ++round) {
        for (int piece = 0; piece < 3; ++piece) {
            kernel.step();
            EXPECT_DOUBLE_EQ(kernel.result(), 2 - std::pow(0.5, round));
        }
    }
}

}  // namespace
}  // namespace effio::overlap
