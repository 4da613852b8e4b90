// SPDX-License-Identifier: BSD-3-Clause
#include "core/sim_model.hpp"

#include <gtest/gtest.h>

#include "core/stats.hpp"

namespace effio {
namespace {

TEST(SimModel, the_slower_of_rank_and_share_decides) {
    SimModel m;
    m.rank_rate = {100e6};
    m.shared_rate = {300e6};
    EXPECT_DOUBLE_EQ(m.storage_seconds(1'000'000, 1), 0.01);  // rank: 100 MB/s
    EXPECT_DOUBLE_EQ(m.storage_seconds(1'000'000, 3), 0.01);  // both
    EXPECT_DOUBLE_EQ(m.storage_seconds(1'000'000, 6), 0.02);  // share: 300/6 = 50 MB/s
    EXPECT_DOUBLE_EQ(m.storage_seconds(1'000'000, 0), 0.01);  // zero ranks count as one
}

TEST(SimModel, a_rate_of_zero_is_not_a_limit) {
    SimModel m;
    m.rank_rate = {0};
    EXPECT_EQ(m.storage_seconds(1'000'000, 8), 0);
    m.shared_rate = {8e6};
    EXPECT_DOUBLE_EQ(m.storage_seconds(1'000'000, 8), 1);
}

TEST(SimModel, a_message_takes_latency_and_time_on_the_slower_of_rank_and_link) {
    SimModel m;
    m.message_latency = {1e-3};
    m.message_rate = {1e9};
    m.link_rate = {2e9};
    EXPECT_DOUBLE_EQ(m.message_seconds(1'000'000, 2), 1e-3 + 1e-3);
    EXPECT_DOUBLE_EQ(m.message_seconds(1'000'000, 8), 1e-3 + 4e-3);
    EXPECT_DOUBLE_EQ(m.message_seconds(0, 8), 1e-3);
}

TEST(SimModel, every_setting_is_an_option) {
    SimModel m;
    OptionTable table("sim", "");
    m.declare(table);
    for (const char* rate :
         {"rank-rate", "shared-rate", "cache-rate", "message-rate", "link-rate"}) {
        EXPECT_TRUE(table.set(rate, "2MB/s")) << rate;
    }
    for (const char* time :
         {"latency", "open", "close", "sync", "metadata", "message-latency", "collective"}) {
        EXPECT_TRUE(table.set(time, "3ms")) << time;
        EXPECT_FALSE(table.set(time, "-3ms")) << time;
    }
    EXPECT_TRUE(table.set("cache", "4MiB"));
    EXPECT_TRUE(table.set("no-content", ""));
    EXPECT_EQ(m.rank_rate.count, 2e6);
    EXPECT_EQ(m.shared_rate.count, 2e6);
    EXPECT_EQ(m.cache_rate.count, 2e6);
    EXPECT_EQ(m.message_rate.count, 2e6);
    EXPECT_EQ(m.link_rate.count, 2e6);
    for (const Seconds s :
         {m.latency, m.open, m.close, m.sync, m.metadata, m.message_latency, m.collective}) {
        EXPECT_EQ(s.count, 0.003);
    }
    EXPECT_EQ(m.cache.count, 4 * MiB);
    EXPECT_TRUE(m.no_content);
    for (const char* number : {"noise", "noise-correlation", "noise-drift"}) {
        EXPECT_TRUE(table.set(number, "0.25")) << number;
        EXPECT_FALSE(table.set(number, "-0.25")) << number;
    }
    EXPECT_TRUE(table.set("noise-seed", "7"));
    EXPECT_TRUE(table.set("noise-of", "reads"));
    EXPECT_FALSE(table.set("noise-of", "renames"));
    EXPECT_EQ(m.noise.text, "0.25");
    EXPECT_EQ(m.noise_correlation + m.noise_drift, 0.5);
    // A model of messages alone has the same noise terms.
    SimModel network;
    OptionTable of_messages("sim", "");
    network.declare_messages(of_messages);
    EXPECT_TRUE(of_messages.set("noise", "bimodal:0.2:2"));
    EXPECT_EQ(of_messages.values()["noise"], "bimodal:0.2:2");
    EXPECT_FALSE(of_messages.set("noise-of", "messages"));
    EXPECT_EQ(m.noise_seed, 7);
    EXPECT_EQ(m.noise_of, SimModel::NoiseOf::reads);
}

TEST(SimModel, noise_is_known) {
    SimModel m;
    EXPECT_EQ(SimNoise(m, 0).next(true), 1);
    m.noise_drift = 0.5;
    SimNoise drifting(m, 0);
    EXPECT_EQ(drifting.next(true), 1);
    EXPECT_EQ(drifting.next(false), 1.5);
    m.noise_of = SimModel::NoiseOf::reads;
    SimNoise of_reads(m, 0);
    EXPECT_EQ(of_reads.next(false), 1);
    EXPECT_EQ(of_reads.next(true), 1);
    EXPECT_EQ(of_reads.next(false), 1.5);
    m.noise_of = SimModel::NoiseOf::messages;
    SimNoise of_messages(m, 0);
    EXPECT_EQ(of_messages.next(false), 1);
    EXPECT_EQ(of_messages.next_message(), 1);
    EXPECT_EQ(of_messages.next_message(), 1.5);
    // Mean and deviation of many; rank 1 with seed 1 is rank 0 with seed 2.
    m = SimModel();
    m.noise = 0.1;
    m.noise_correlation = 0.5;
    SimNoise one(m, 1);
    m.noise_seed = 2;
    SimNoise other(m, 0);
    Samples samples;
    for (int i = 0; i < 10000; ++i) {
        samples.add(one.next(true));
        if (i == 0) {
            EXPECT_EQ(samples.mean(), other.next(true));
        }
    }
    EXPECT_NEAR(samples.mean(), 1, 0.01);
    EXPECT_NEAR(samples.deviation(), 0.1, 0.01);
}

}  // namespace
}  // namespace effio
