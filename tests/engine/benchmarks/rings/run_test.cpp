// SPDX-License-Identifier: BSD-3-Clause
// Runs of the rings benchmark in virtual time against closed forms, and a corrupted byte.
#include <gtest/gtest.h>

#include "altered_exchange.hpp"
#include "frame/ring_patterns/ring_runner.hpp"
#include "test_session.hpp"

namespace effio::rings {
namespace {

SimModel model() {
    SimModel m;
    m.message_latency = {1e-3};
    m.message_rate = {1e6};
    return m;
}

/// Messages as the model has them.
NetworkOptions on_sim() {
    NetworkOptions network;
    network.backend = "sim";
    network.model = model();
    return network;
}

template <class Alter>
std::unique_ptr<Exchange> altered(std::unique_ptr<Exchange> inner, const Alter& alter) {
    return std::make_unique<AlteredExchange>(std::move(inner), alter);
}

LengthResult measure(TestSession& session, const ExchangeMaker& exchanges, const Schedule& schedule,
                     Outcome* outcome = nullptr, VerifiedBytes verify = VerifiedBytes::ends) {
    const Topology topology = find_topology(session.comm);
    Job job{session.session, topology, nullptr, {}};
    Runner runner(job, exchanges, 11, verify);
    LengthResult result = runner.measure(schedule);
    if (outcome != nullptr) *outcome = runner.outcome();
    return result;
}

TEST(Rings, a_message_takes_alpha_and_n_over_beta) {
    TestSession session(Clock::Kind::virtual_time);
    if (session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    const NetworkOptions network = on_sim();
    for (const Schedule& schedule : {latency_schedule, bandwidth_schedule}) {
        const LengthResult r = measure(session, network.maker(), schedule);
        const double message = 1e-3 + static_cast<double>(schedule.bytes) / 1e6;
        const std::int64_t ranks = session.comm.size();
        EXPECT_EQ(r.pairs.pairs, ranks * (ranks - 1));
        EXPECT_NEAR(r.pairs.seconds.min, message, 1e-9);
        EXPECT_NEAR(r.pairs.seconds.max, message, 1e-9);
        const double rate = static_cast<double>(schedule.bytes) / message;
        EXPECT_NEAR(r.pairs.rate.mean, rate, 1e-6 * rate);
        // Two messages one after the other, or both at a time: half of it for each.
        EXPECT_NEAR(r.natural.sendrecv_seconds, message, 1e-9);
        EXPECT_NEAR(r.natural.nonblocking_seconds, message / 2, 1e-9);
        EXPECT_NEAR(r.natural.seconds, message / 2, 1e-9);
        EXPECT_EQ(static_cast<int>(r.random.size()), schedule.random_rings);
        EXPECT_NEAR(r.random_seconds(), message / 2, 1e-9);
        EXPECT_NEAR(r.random_rate(), 2 * rate, 1e-6 * rate);
        EXPECT_EQ(r.errors(), 0);
        EXPECT_EQ(r.natural.within, 2 * ranks);
        EXPECT_EQ(r.natural.between, 0);
        EXPECT_EQ(r.natural.loops, schedule.ring_loops);
    }
}

TEST(Rings, loops_too_short_for_the_clock_grow_and_stay) {
    TestSession session(Clock::Kind::virtual_time);
    if (session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    NetworkOptions network;
    network.backend = "sim";
    network.model.message_latency = {0.4e-6};
    // A tick of 1 us: at least 10 us. Rings: 5 loops of 0.8 us are 4, 7 are 5.6, 10 are 8, 15 are
    // 12. Pairs: 8 round trips are 6.4 us, 12 are 9.6, 18 are 14.4.
    const LengthResult r = measure(session, network.maker(), latency_schedule);
    EXPECT_EQ(r.natural.loops, 15);
    EXPECT_EQ(r.random.back().loops, 15);
    EXPECT_EQ(r.pairs.loops, 18);
    EXPECT_NEAR(r.pairs.seconds.max, 0.4e-6, 1e-12);
}

TEST(Rings, a_corrupted_byte_is_found_in_pairs_and_in_rings) {
    TestSession session(Clock::Kind::virtual_time);
    if (session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    const NetworkOptions network = on_sim();
    const ExchangeMaker honest = network.maker();
    for (const int first_corrupted : {1, 2}) {
        bool armed = session.comm.rank() == 1;
        int made = 0;
        const auto flip_first = [&armed](Method, const Step& step) {
            if (!armed || step.receive.size() != 2000000) return;
            step.receive.front() ^= std::byte{0x80};
            armed = false;
        };
        const ExchangeMaker exchanges = [&](const Comm& comm, LinkLoad load) {
            auto inner = honest(comm, load);
            // The first exchange is that of the pairs, the second that of the natural ring.
            return ++made == first_corrupted ? altered(std::move(inner), flip_first)
                                             : std::move(inner);
        };
        Outcome outcome;
        const LengthResult r = measure(session, exchanges, bandwidth_schedule, &outcome);
        EXPECT_EQ(r.pairs.errors > 0, first_corrupted == 1);
        EXPECT_EQ(r.natural.errors, first_corrupted == 2 ? 1 : 0);
        if (session.comm.rank() == 1) {
            ASSERT_TRUE(outcome.error);
            EXPECT_EQ(outcome.error->exit_code, ExitCode::data_errors);
        }
    }
}

TEST(Rings, whole_messages_are_verified_where_that_is_requested) {
    TestSession session(Clock::Kind::virtual_time);
    if (session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    const NetworkOptions network = on_sim();
    const ExchangeMaker honest = network.maker();
    Schedule schedule = bandwidth_schedule;
    schedule.random_rings = 1;
    for (const bool corrupts : {false, true}) {
        const bool flips = corrupts && session.comm.rank() == 1;
        const auto flip_middle = [flips](Method, const Step& step) {
            if (flips && step.receive.size() == 2000000) step.receive[1000001] ^= std::byte{0x08};
        };
        const ExchangeMaker exchanges = [&](const Comm& comm, LinkLoad load) {
            return std::make_unique<AlteredExchange>(honest(comm, load), flip_middle);
        };
        EXPECT_EQ(measure(session, exchanges, schedule).errors(), 0);
        Outcome outcome;
        const LengthResult r = measure(session, exchanges, schedule, &outcome, VerifiedBytes::all);
        EXPECT_EQ(r.pairs.errors > 0, corrupts);
        // Both neighbors' messages of three loops, one of them untimed, by both methods.
        const std::int64_t messages = std::int64_t{2} * 3 * 2 * schedule.ring_measurements;
        EXPECT_EQ(r.natural.errors, corrupts ? messages : 0);
        EXPECT_EQ(r.natural.verified.whole, messages * session.comm.size());
        EXPECT_EQ(r.natural.verified.overwritten, 0);
        // A round trip that is not timed, and a timed one: each rank meets each other one twice.
        const std::int64_t pairs = r.pairs.pairs + 1;  // one is measured before all others
        EXPECT_EQ(r.pairs.verified.whole, pairs * 2 * 2 * schedule.pair_measurements);
        if (!corrupts || session.comm.rank() != 1) continue;
        ASSERT_TRUE(outcome.error);
        EXPECT_EQ(outcome.error->exit_code, ExitCode::data_errors);
        EXPECT_NE(outcome.error->cause.find("ping-pong message of 2000000 B"), std::string::npos)
            << outcome.error->cause;
    }
}

TEST(Rings, a_message_that_others_follow_is_verified_and_so_are_the_numbers_between_ranks) {
    TestSession session(Clock::Kind::virtual_time);
    if (session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    const NetworkOptions network = on_sim();
    const ExchangeMaker honest = network.maker();
    Schedule schedule = latency_schedule;
    schedule.random_rings = 0;
    // The first message of 8 B is one of the pairs; one of the ring comes from the second exchange.
    // Ranks send each other the count of round trips and their nodes in three copies of 8 B.
    struct Case {
        std::size_t bytes;
        int exchange;
        std::int64_t pair_errors;
        std::int64_t ring_errors;
    };
    for (const Case& one :
         {Case{8, 1, 1, 0}, Case{8, 2, 0, 1}, Case{24, 1, 1, 0}, Case{24, 2, 0, 1}}) {
        bool armed = session.comm.rank() == 1;
        int made = 0;
        const auto flip = [&](Method, const Step& step) {
            if (!armed || step.receive.size() != one.bytes) return;
            step.receive[3] ^= std::byte{0x01};
            armed = false;
        };
        const ExchangeMaker exchanges = [&](const Comm& comm, LinkLoad load) {
            auto inner = honest(comm, load);
            return ++made == one.exchange ? altered(std::move(inner), flip) : std::move(inner);
        };
        Outcome outcome;
        const LengthResult r = measure(session, exchanges, schedule, &outcome, VerifiedBytes::all);
        EXPECT_EQ(r.pairs.errors, one.pair_errors) << one.bytes << " B";
        EXPECT_EQ(r.natural.errors, one.ring_errors) << one.bytes << " B";
        EXPECT_EQ(r.natural.within, 2 * session.comm.size());
        EXPECT_NEAR(r.pairs.seconds.max, 1e-3 + 8e-6, 1e-9);
        if (session.comm.rank() != 1) continue;
        ASSERT_TRUE(outcome.error);
        EXPECT_NE(outcome.error->cause.find(one.bytes == 8 ? "of 8 B" : "of 24 B"),
                  std::string::npos)
            << outcome.error->cause;
    }
}

}  // namespace
}  // namespace effio::rings
