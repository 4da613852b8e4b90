// SPDX-License-Identifier: BSD-3-Clause
// Which pairs the rings benchmark measures, and how results become the numbers of hpccoutf.txt
// (docs/definitions/rings.md), manually.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "frame/ring_patterns/ring_result.hpp"

namespace effio::rings {
namespace {

TEST(PairStride, all_pairs_when_they_fit) {
    // 1 us a message: 10 s / (2 * 1e-6 * 9 * 5) = 111111 pairs, 333 pings.
    EXPECT_EQ(pair_stride(2, latency_schedule, 1e-6, 1e-6), 1);
    EXPECT_EQ(pair_stride(333, latency_schedule, 1e-6, 1e-6), 1);
}

TEST(PairStride, a_choice_when_they_do_not) {
    // 333 pings: 400 / 333 + 0.9 = 2.1, and 2 becomes 3.
    EXPECT_EQ(pair_stride(400, latency_schedule, 1e-6, 1e-6), 3);
    // 1000 / 333 + 0.9 = 3.9: 3.
    EXPECT_EQ(pair_stride(1000, latency_schedule, 1e-6, 1e-6), 3);
    // 2000 / 333 + 0.9 = 6.9: 6, and the next prime is 7.
    EXPECT_EQ(pair_stride(2000, latency_schedule, 1e-6, 1e-6), 7);
    // Slow messages: 10 / (2 * 9 * 5 * 1) is less than one pair, so 5 pings. 20 / 5 + 0.9: 4; the
    // prime 5 is below 20 / 3.
    EXPECT_EQ(pair_stride(20, latency_schedule, 1.0, 1e-6), 5);
    // 40 / 5 + 0.9: 8; 11 is below 40 / 3. With 14 ranks it is 3.7: 3.
    EXPECT_EQ(pair_stride(40, latency_schedule, 1.0, 1e-6), 11);
    EXPECT_EQ(pair_stride(14, latency_schedule, 1.0, 1e-6), 3);
    // Too short to be seen: 10 ticks for each measurement, 10 / (10 * 0.01 * 5) = 20, 5 pings.
    EXPECT_EQ(pair_stride(20, latency_schedule, 0, 0.01), 5);
    // 30 s / (2 * 0.1 * 2 * 2) = 37 pairs, 6 pings; 60 / 6 + 0.9 = 10.9: 10, prime 11.
    EXPECT_EQ(pair_stride(60, bandwidth_schedule, 0.1, 1e-6), 11);
}

TEST(Pairs, clients_count_from_the_first_rank_and_servers_from_the_last) {
    const Pairs two(2, 1);
    ASSERT_EQ(two.combinations(), 4);
    std::set<std::pair<int, int>> seen;
    for (std::int64_t i = 0; i < two.combinations(); ++i) {
        seen.insert({two[i].client, two[i].server});
    }
    EXPECT_TRUE(seen.contains({0, 1}));
    EXPECT_TRUE(seen.contains({1, 0}));
    EXPECT_EQ(seen.size(), 4U);
    // 10 ranks by 3: clients 0 3 6 9, servers 9 6 3 0.
    const Pairs ten(10, 3);
    EXPECT_EQ(ten.combinations(), 16);
    EXPECT_EQ(ten[0].client, 0);
    EXPECT_EQ(ten[0].server, 9);
    EXPECT_EQ(ten[5].client, 3);
    EXPECT_EQ(ten[5].server, 6);
    // 8 ranks by 3: clients 0 3 6, servers 7 4 1.
    EXPECT_EQ(Pairs(8, 3)[2].server, 1);
}

TEST(Loops, grow_by_half_and_ticks_are_bounded) {
    EXPECT_EQ(longer_loop(1), 2);
    EXPECT_EQ(longer_loop(2), 3);
    EXPECT_EQ(longer_loop(5), 7);
    EXPECT_DOUBLE_EQ(clamped_tick(1e-9), 1e-6);
    EXPECT_DOUBLE_EQ(clamped_tick(1), 0.01);
    EXPECT_DOUBLE_EQ(clamped_tick(1e-4), 1e-4);
}

TEST(HpccValues, are_microseconds_and_1e9_bytes_per_second) {
    LengthResult latency;
    latency.schedule = latency_schedule;
    latency.pairs.seconds = {1e-6, 2e-6, 4e-6};
    latency.natural.seconds = 3e-6;
    LengthResult bandwidth;
    bandwidth.schedule = bandwidth_schedule;
    bandwidth.pairs.rate = {1e9, 2e9, 5e9};
    bandwidth.natural.seconds = 1e-3;  // 2 MB in 1 ms
    for (const double seconds : {1e-3, 4e-3}) {
        RingResult ring;
        ring.seconds = seconds;
        bandwidth.random.push_back(ring);  // geometric mean 2 ms: 1 GB/s, not the mean of 2 and 0.5
        ring.seconds = seconds * 1e-3;
        latency.random.push_back(ring);
    }
    std::map<std::string, double> values;
    for (const auto& [name, value] : hpcc_values(latency, bandwidth)) values[name] = value;
    ASSERT_EQ(values.size(), 10U);
    EXPECT_DOUBLE_EQ(values.at("MaxPingPongLatency_usec"), 4);
    EXPECT_DOUBLE_EQ(values.at("MinPingPongLatency_usec"), 1);
    EXPECT_DOUBLE_EQ(values.at("AvgPingPongLatency_usec"), 2);
    EXPECT_DOUBLE_EQ(values.at("NaturallyOrderedRingLatency_usec"), 3);
    EXPECT_NEAR(values.at("RandomlyOrderedRingLatency_usec"), 2, 1e-12);
    EXPECT_DOUBLE_EQ(values.at("MinPingPongBandwidth_GBytes"), 1);
    EXPECT_DOUBLE_EQ(values.at("AvgPingPongBandwidth_GBytes"), 2);
    EXPECT_DOUBLE_EQ(values.at("MaxPingPongBandwidth_GBytes"), 5);
    EXPECT_DOUBLE_EQ(values.at("NaturallyOrderedRingBandwidth_GBytes"), 2);
    EXPECT_NEAR(values.at("RandomlyOrderedRingBandwidth_GBytes"), 1, 1e-12);
}

TEST(Pairs, of_the_most_ranks_there_can_be) {
    const Pairs pairs(2147483647, 2);
    const std::int64_t side = 1 << 30;
    EXPECT_EQ(pairs.combinations(), side * side);
    EXPECT_EQ(pairs[side * side - 1].client, 2147483646);
    EXPECT_EQ(pairs[side * side - 1].server, 0);
}

}  // namespace
}  // namespace effio::rings
