// SPDX-License-Identifier: BSD-3-Clause
// Ranks that know different rates, or whose clocks differ, decide the same: what the root decides.
#include <gtest/gtest.h>

#include <array>

#include "frame/until_ci.hpp"
#include "parallel/comm.hpp"

namespace effio {
namespace {

struct UntilCiRanks : testing::Test {
    Clock clock{Clock::Kind::virtual_time};
    Comm comm = Comm::world(clock);
    UntilCiOptions options{Share{0.05}, Seconds{600}, Seconds{0}, false};
    UntilCi::Subject subject{"bandwidth", Json::object(), "B/s", "write"};

    /// How often this rank continues, of at most `most` times. The root's rates are equal; the
    /// others' scatter, and their clocks are `ahead` of the root's.
    std::int64_t repetitions(double of_root, double of_others, double ahead) {
        UntilCi until(options, 50, 0);
        std::int64_t done = 0;
        do {
            ++done;
            const double scatter = comm.is_root() ? of_root : of_others;
            // The steps of 9, 10, 11 … in until_ci_test.cpp: no modes, no outliers.
            constexpr std::array steps{-1, 0, 1, 0, -1, 1, 0, -1, 1, 0};
            until.add(subject, 100 + scatter * steps[static_cast<std::size_t>(done - 1) % 10]);
        } while (until.another(comm, comm.is_root() ? 1 : 1 + ahead));
        return done;
    }
};

TEST_F(UntilCiRanks, the_samples_of_the_root_decide) {
    EXPECT_EQ(repetitions(0, 50, 0), 10);
    // Ten values with a deviation of 0.8: within 1 %.
    EXPECT_EQ(repetitions(1, 0, 0), 10);
    EXPECT_EQ(repetitions(90, 0, 0), 50);
}

TEST_F(UntilCiRanks, the_clock_of_the_root_decides) {
    EXPECT_EQ(repetitions(0, 50, 1000), 10);
    EXPECT_EQ(repetitions(90, 90, 1000), 50);
}

TEST_F(UntilCiRanks, all_know_which_figures_the_root_wants_more_of) {
    UntilCi until(options, 50, 0);
    const UntilCi::Subject read{"bandwidth", Json{{"access", "read"}}, "B/s", "read"};
    const UntilCi::Subject unknown{"other", Json::object(), "B/s", "other"};
    const std::vector<UntilCi::Subject> all{subject, read, unknown};
    for (int done = 1; done <= 10; ++done) {
        EXPECT_EQ(until.wanted(comm, all), (std::vector<char>{1, 1, 1}));
        until.add(subject, 100);
        until.add(read, comm.is_root() ? 100 + 50 * done : 100);
        EXPECT_TRUE(until.another(comm, 1));
    }
    EXPECT_EQ(until.wanted(comm, all), (std::vector<char>{0, 1, 1}));
    // Without the option the ranks do not vote, and all repetitions are wanted.
    const UntilCi without(UntilCiOptions(), 50, 0);
    if (comm.is_root()) {
        EXPECT_EQ(without.wanted(comm, all), (std::vector<char>{1, 1, 1}));
    }
}

TEST_F(UntilCiRanks, without_the_option_no_rank_is_asked) {
    options = {};
    UntilCi until(options, 2, 0);
    // No communication: only one rank calls.
    if (comm.is_root()) {
        for (int i = 0; i < 5; ++i) EXPECT_TRUE(until.another(comm, 1e9));
    }
}

}  // namespace
}  // namespace effio
