// SPDX-License-Identifier: BSD-3-Clause
// Which pairs meet in which round, what is called slow, and pairs in virtual time.
#include <gtest/gtest.h>

#include <set>

#include "benchmarks/b_eff/pairs.hpp"
#include "test_session.hpp"

namespace effio::b_eff {
namespace {

TEST(Tournament, every_pair_meets_once_and_no_rank_twice_in_a_round) {
    for (int ranks = 2; ranks <= 9; ++ranks) {
        const Tournament t(ranks);
        std::set<std::pair<int, int>> met;
        for (int round = 0; round < t.rounds(); ++round) {
            int playing = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                const auto other = t.partner(rank, round);
                if (!other) continue;
                ++playing;
                EXPECT_EQ(t.partner(*other, round), rank) << ranks;
                if (rank < *other) {
                    EXPECT_TRUE(met.insert({rank, *other}).second) << ranks;
                }
            }
            EXPECT_EQ(playing, 2 * t.pairs_per_round()) << ranks;
        }
        EXPECT_EQ(static_cast<int>(met.size()), ranks * (ranks - 1) / 2);
    }
}

/// Six ranks on two nodes; rank 3 has a tenth of the bandwidth to everyone.
PairsResult with_slow_rank() {
    PairsResult r;
    r.node_of_rank = {0, 0, 0, 1, 1, 1};
    r.pairs_in_all = 15;
    for (int low = 0; low < 6; ++low) {
        for (int high = low + 1; high < 6; ++high) {
            const bool same = r.node_of_rank[std::size_t(low)] == r.node_of_rank[std::size_t(high)];
            const bool slow = low == 3 || high == 3;
            r.pairs.push_back({low, high, 1e-6, (same ? 10e9 : 1e9) * (slow ? 0.1 : 1.0)});
        }
    }
    return r;
}

TEST(Pairs, are_judged_by_their_own_class) {
    const PairsResult r = with_slow_rank();
    EXPECT_FALSE(r.sampled());
    const PairClass inside = pair_class(r, true);
    const PairClass between = pair_class(r, false);
    EXPECT_EQ(inside.pairs, 6);
    EXPECT_EQ(between.pairs, 9);
    EXPECT_DOUBLE_EQ(inside.bandwidth.mean, 10e9);
    EXPECT_DOUBLE_EQ(between.bandwidth.mean, 1e9);
    EXPECT_DOUBLE_EQ(between.bandwidth.min, 1e8);
    const auto ranks = slow_ranks(r);
    ASSERT_EQ(ranks.size(), 1U);
    EXPECT_EQ(ranks[0].rank, 3);
    EXPECT_DOUBLE_EQ(ranks[0].relative_bandwidth, 0.1);
    const auto pairs = slow_pairs(r);
    ASSERT_EQ(pairs.size(), 5U);
    EXPECT_DOUBLE_EQ(pairs[0].bandwidth, 1e8);
}

TEST(Pairs, have_the_latency_and_bandwidth_of_the_model) {
    TestSession session(Clock::Kind::virtual_time);
    const int ranks = session.comm.size();
    if (ranks < 2) GTEST_SKIP() << "needs two ranks";
    Parameters p;
    p.network.backend = "sim";
    p.network.model.message_latency = {1e-3};
    p.network.model.message_rate = {1e6};
    p.pairs_bytes = {1000};
    const Topology topology = find_topology(session.comm);
    Job job{session.session, topology, nullptr, {}};
    for (const Pairs kind : {Pairs::all, Pairs::sampled}) {
        p.pairs = kind;
        p.pairs_limit = 1;
        Outcome outcome;
        const PairsResult r = measure_pairs(job, p.network.maker(), p, 5, outcome);
        EXPECT_EQ(r.errors, 0);
        EXPECT_EQ(r.pairs_in_all, ranks * (ranks - 1) / 2);
        if (!session.comm.is_root()) continue;
        // A sample is at least one round: each rank at most once.
        EXPECT_EQ(static_cast<int>(r.pairs.size()),
                  kind == Pairs::all ? ranks * (ranks - 1) / 2 : ranks / 2);
        for (const PairValue& pair : r.pairs) {
            EXPECT_NEAR(pair.latency, 1e-3 + 1e-6, 1e-12);
            EXPECT_NEAR(pair.bandwidth, 1000 / 2e-3, 1e-3);  // 1 ms on the way, 1 ms to send
        }
    }
}

}  // namespace
}  // namespace effio::b_eff
