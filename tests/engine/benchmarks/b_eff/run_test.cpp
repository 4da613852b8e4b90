// SPDX-License-Identifier: BSD-3-Clause
// Runs of b_eff in virtual time against closed forms, the short-cut, and a corrupted byte.
#include <gtest/gtest.h>

#include <cmath>

#include "altered_exchange.hpp"
#include "benchmarks/b_eff/runner.hpp"
#include "test_session.hpp"

namespace effio::b_eff {
namespace {

/// One second a message and slow bytes: loop lengths fall to 1 at once, so runs are short.
struct VirtualRun {
    explicit VirtualRun(const SimModel& model, int repetitions = 1, double shorten_after = 0)
        : session(Clock::Kind::virtual_time), topology(find_topology(session.comm)) {
        Setup s;
        s.ranks = session.comm.size();
        s.parameters.network.backend = "sim";
        s.parameters.network.model = model;
        s.parameters.repetitions_asked = repetitions;
        s.parameters.random_asked = 2;
        s.parameters.shorten_after = {shorten_after};
        s.lmax = 8192;
        s.lengths = MessageLengths(s.lmax);
        s.patterns = pattern_table(s.ranks, 2, true);
        s.seed = 7;
        exchanges = s.parameters.network.maker();
        run = std::make_unique<RunResult>(std::move(s));
    }
    Ending measure() {
        Job job{session.session, topology, nullptr, {}};
        return Runner(job, exchanges, *run, {}).measure();
    }
    double ranks() const { return session.comm.size(); }
    std::size_t find(Family family) const {
        for (std::size_t i = 0; i < run->pattern_count(); ++i) {
            if (run->setup.patterns[i].family == family) return i;
        }
        return 0;
    }

    TestSession session;
    Topology topology;
    ExchangeMaker exchanges;
    std::unique_ptr<RunResult> run;
};

constexpr double rate = 1e6;

SimModel slow_messages() {
    SimModel model;
    model.message_latency = {1.0};
    model.message_rate = {rate};
    return model;
}

/// The mean over the lengths of L / (alpha + L / rate).
double mean_of_one_message(const MessageLengths& lengths) {
    double sum = 0;
    for (const auto bytes : lengths.bytes) {
        const auto l = static_cast<double>(bytes);
        sum += l / (1.0 + l / rate);
    }
    return sum / length_count;
}

TEST(Beff, latency_and_bandwidth_in_closed_form) {
    VirtualRun v(slow_messages());
    if (v.session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    const Ending ending = v.measure();
    EXPECT_EQ(ending.status, ExitCode::done);
    const RunResult& run = *v.run;
    EXPECT_TRUE(run.complete);
    const double one = mean_of_one_message(run.setup.lengths);
    // Rings of two have one message each way; in larger ones the two of a rank travel at the same
    // time with all methods but Sendrecv. A pattern with both is as slow as its slowest rank.
    const double large = v.ranks() > 2 ? 2.0 : 1.0;
    for (std::size_t i = 0; i < ring_patterns; ++i) {
        const bool pairs = run.setup.patterns[i].split.low == 2;
        EXPECT_NEAR(run.pattern_average(i), v.ranks() * one * (pairs ? 1.0 : large), 1e-6 * one)
            << run.setup.patterns[i].name;
        EXPECT_NEAR(run.pattern_average(i, {0, {}}), v.ranks() * one, 1e-6 * one);
    }
    double rings = 1;
    for (std::size_t i = 0; i < ring_patterns; ++i) {
        rings *= run.setup.patterns[i].split.low == 2 ? 1.0 : large;
    }
    const double expected = v.ranks() * one * std::sqrt(std::pow(rings, 1.0 / 6) * large);
    EXPECT_NEAR(effective_bandwidth(run).both, expected, 1e-6 * expected);
    const Summary s = summarize(run);
    EXPECT_NEAR(s.ping_pong_latency, 1.0 + 1 / rate, 1e-9);
    EXPECT_NEAR(s.ping_pong_bandwidth, 8192 / (1.0 + 8192 / rate), 1e-6);
}

TEST(Beff, all_messages_together_have_the_rate_of_the_link) {
    SimModel model;
    model.link_rate = {1000};
    VirtualRun v(model);
    if (v.session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    v.measure();
    // Rings of one size only: a mixture is reckoned by its slowest rank, not by its messages.
    for (std::size_t i = 0; i < v.run->pattern_count(); ++i) {
        const Pattern& p = v.run->setup.patterns[i];
        const bool mixed = p.family == Family::ring && p.split.high_rings > 0;
        if (p.counts() && !mixed) {
            EXPECT_NEAR(v.run->pattern_average(i), 1000, 1e-6) << p.name;
        }
    }
}

TEST(Beff, loops_end_when_a_length_has_had_its_time) {
    VirtualRun v(slow_messages());
    if (v.session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    v.measure();
    if (!v.session.comm.is_root()) return;
    // 10 loops of the pre-pass took far more than 0.5 s: the limit is 10 loops, the first length
    // has 5, then 5 / 2 = 2, and 1 from there on.
    for (int m = 0; m < method_count; ++m) {
        EXPECT_EQ(v.run->loops(0, 0, m).loops, 5);
        EXPECT_EQ(v.run->loops(0, 1, m).loops, 2);
        EXPECT_EQ(v.run->loops(0, 2, m).loops, 1);
        EXPECT_EQ(v.run->loops(0, 20, m).loops, 1);
    }
    const LoopRow& row = v.run->loops(0, 0, 0);
    // Sendrecv: one step of a second after the other.
    EXPECT_NEAR(row.shortest_pattern, 5 * (1 + 1 / rate), 1e-9);
    EXPECT_GE(row.longest_pattern, 10 * (1 + 1 / rate) - 1e-9);
}

TEST(Beff, the_short_cut_measures_the_best_method_and_changes_nothing) {
    VirtualRun v(slow_messages(), 3, 1e-9);
    if (v.session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    v.measure();
    if (!v.session.comm.is_root()) return;
    const RunResult& run = *v.run;
    using State = Experiment::State;
    EXPECT_TRUE(run.shortened(0));
    const auto measured = [&](int repetition, int length, std::size_t pattern) {
        int count = 0;
        for (int m = 0; m < method_count; ++m) {
            count +=
                run.experiment(repetition, length, pattern, m).state == State::measured ? 1 : 0;
        }
        return count;
    };
    const std::size_t random = v.find(Family::random_ring);
    EXPECT_EQ(measured(0, 18, random), 3);
    EXPECT_EQ(measured(2, 18, random), 3);
    for (const int repetition : {0, 1}) {
        EXPECT_EQ(measured(repetition, 19, random), 1);
        EXPECT_EQ(measured(repetition, 20, random), 1);
    }
    EXPECT_EQ(measured(2, 19, random), 1);
    EXPECT_EQ(measured(2, 20, random), 0);  // gets the first repetition's
    // Alltoallv and nonblocking are equally fast here: the later one is taken.
    EXPECT_EQ(run.best_methods[0][random], 2);
    EXPECT_EQ(run.best_methods[0][v.find(Family::ping_pong)], 0);
    EXPECT_EQ(run.experiment(2, 20, random, 0).state, State::copied);
    EXPECT_DOUBLE_EQ(run.experiment(2, 20, random, 0).rate, run.experiment(0, 20, random, 2).rate);
    EXPECT_EQ(run.loops(0, 20, 0).cut, LoopRow::Cut::fewer_repetitions);
    EXPECT_EQ(run.loops(0, 19, 0).cut, LoopRow::Cut::best_method);
    const double one = mean_of_one_message(run.setup.lengths);
    const double large = v.ranks() > 2 ? 2.0 : 1.0;
    EXPECT_NEAR(run.pattern_average(random), v.ranks() * one * large, 1e-6 * one);
}

TEST(Beff, a_corrupted_byte_is_found_on_whichever_rank) {
    VirtualRun v(slow_messages());
    if (v.session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    const ExchangeMaker honest = v.exchanges;
    const int guilty = v.session.comm.size() - 1;
    v.exchanges = [&](const Comm& comm, LinkLoad load) {
        // The last byte of one message of each communicator.
        const auto flip_last = [armed = v.session.comm.rank() == guilty](Method method,
                                                                         const Step& step) mutable {
            if (!armed || method != Method::nonblocking || step.receive.size() != 4096) return;
            step.receive.back() ^= std::byte{0x10};
            armed = false;
        };
        return std::make_unique<AlteredExchange>(honest(comm, load), flip_last);
    };
    const Ending ending = v.measure();
    EXPECT_EQ(ending.status, ExitCode::data_errors);
    EXPECT_NE(ending.reason.find("last byte expected 0x01, found 0x11"), std::string::npos)
        << ending.reason;
    EXPECT_NE(ending.reason.find("message of 4096 B"), std::string::npos) << ending.reason;
    EXPECT_GT(v.run->errors, 0);
    EXPECT_FALSE(valid(*v.run));
    const Experiment& experiment = v.run->experiment(0, last_doubling, 0, 2);
    EXPECT_EQ(experiment.errors, 1);
    EXPECT_FALSE(experiment.has_rate());
    EXPECT_TRUE(v.run->experiment(0, last_doubling, 0, 1).has_rate());
}

TEST(Beff, whole_messages_are_verified_where_that_is_requested) {
    for (const bool all : {false, true}) {
        for (const bool corrupts : {false, true}) {
            if (!all && !corrupts) continue;  // all other tests cover this case
            VirtualRun v(slow_messages());
            if (v.session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
            if (all) v.run->setup.parameters.network.verify = VerifiedBytes::all;
            const ExchangeMaker honest = v.exchanges;
            const auto flip_middle = [corrupts](Method, const Step& step) {
                if (corrupts && step.receive.size() == 4096) {
                    step.receive[2047] ^= std::byte{0x40};
                }
            };
            v.exchanges = [&](const Comm& comm, LinkLoad load) {
                return std::make_unique<AlteredExchange>(honest(comm, load), flip_middle);
            };
            const Ending ending = v.measure();
            const bool found = all && corrupts;
            // All messages of all loops, and of the untimed one before those of short messages.
            for (std::size_t p = 0; v.session.comm.is_root() && p < v.run->pattern_count(); ++p) {
                for (int length = 0; length < length_count; ++length) {
                    const Experiment& c = v.run->experiment(0, length, p, 0);
                    if (!all || c.state != Experiment::State::measured) continue;
                    const std::int64_t loops = c.loops + (length < 18 ? 1 : 0);
                    EXPECT_EQ(c.verified.whole,
                              loops * v.run->setup.patterns[p].messages_at_once());
                    EXPECT_EQ(c.verified.overwritten, 0);
                }
            }
            EXPECT_EQ(ending.status, found ? ExitCode::data_errors : ExitCode::done)
                << ending.reason;
            EXPECT_EQ(v.run->errors > 0, found);
            if (!found) continue;
            EXPECT_NE(ending.reason.find("message of 4096 B"), std::string::npos) << ending.reason;
            EXPECT_NE(ending.reason.find("byte 2047 expected"), std::string::npos) << ending.reason;
        }
    }
}

TEST(Beff, messages_within_and_between_nodes_are_counted) {
    VirtualRun v(slow_messages());
    if (v.session.comm.size() < 2) GTEST_SKIP() << "needs two ranks";
    // Pretend that rank 0 has its own node.
    v.topology.node = v.session.comm.rank() == 0 ? 0 : 1;
    v.measure();
    for (std::size_t i = 0; i < v.run->pattern_count(); ++i) {
        const Pattern& p = v.run->setup.patterns[i];
        const NodeSteps& steps = v.run->node_steps[i];
        EXPECT_EQ(steps.within + steps.between, p.messages_at_once());
        // In each ring rank 0 sends to its neighbors and gets as much from them.
        if (p.family == Family::random_ring) {
            EXPECT_EQ(steps.between, v.ranks() > 2 ? 4 : 2);
        }
    }
}

}  // namespace
}  // namespace effio::b_eff
