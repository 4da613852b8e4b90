// SPDX-License-Identifier: BSD-3-Clause
// What stops a run, and what of it is remembered.
#include <gtest/gtest.h>

#include "../test_session.hpp"
#include "frame/run_loop.hpp"

namespace effio {
namespace {

Error error_of(ExitCode code, const std::string& cause) {
    Error error = io_error("write", "a", cause);
    error.exit_code = code;
    return error;
}

struct Loop : testing::Test {
    TestSession s{Clock::Kind::virtual_time};
    RunLoop loop{s.session};

    /// Number of repetitions done, of five; `stop` is called in each.
    template <class Stop>
    int repetitions(Stop&& stop) {
        UntilCi all({}, 5, 0);
        int done = 0;
        loop.repeat(s.comm, all, [&](std::int64_t number) {
            EXPECT_EQ(number, done++);
            stop(number);
        });
        return done;
    }
};

TEST_F(Loop, repeats_until_it_stops) {
    EXPECT_EQ(repetitions([](auto) {}), 5);
    EXPECT_EQ(repetitions([this](auto number) { number == 2 ? loop.stop() : void(); }), 3);
    EXPECT_EQ(repetitions([](auto) {}), 0);
    EXPECT_EQ(loop.ending("parts", "wrong byte").status, ExitCode::done);
}

TEST_F(Loop, the_clock_of_the_root_ends_it) {
    EXPECT_EQ(repetitions([this](auto) {
                  EXPECT_FALSE(loop.is_over(s.comm, 0));
                  if (s.comm.is_root()) s.clock.advance(1);
                  if (loop.is_over(s.comm, 2.5)) loop.stop();
              }),
              3);
}

TEST_F(Loop, a_signal_to_one_rank_stops_all) {
    EXPECT_TRUE(loop.go_on(s.comm));
    if (s.comm.rank() == s.comm.size() - 1) s.stop = true;
    EXPECT_TRUE(loop.go_on(s.comm, Outcome()));
    EXPECT_TRUE(loop.agree(s.comm, Outcome()).interrupted);
    EXPECT_TRUE(loop.stops());
    EXPECT_FALSE(loop.go_on(s.comm));
    EXPECT_EQ(loop.ending("parts", "wrong byte").status, ExitCode::interrupted);
}

TEST_F(Loop, wrong_data_are_counted_and_stop_nothing) {
    EXPECT_TRUE(loop.note({3, false, error_of(ExitCode::data_errors, "first")}));
    EXPECT_TRUE(loop.note({4, false, error_of(ExitCode::data_errors, "second")}));
    EXPECT_EQ(loop.wrong_data()->cause, "first");
    EXPECT_FALSE(loop.outcome().error);
    const Ending ending = loop.ending("parts", "wrong byte");
    EXPECT_EQ(ending.status, ExitCode::data_errors);
    EXPECT_EQ(ending.reason, "7 wrong bytes in the data read back");
}

TEST_F(Loop, one_wrong_byte_is_not_several) {
    EXPECT_TRUE(loop.note({1, false, error_of(ExitCode::data_errors, "first")}));
    EXPECT_EQ(loop.ending("parts", "wrong byte").reason, "1 wrong byte in the data read back");
}

TEST_F(Loop, the_first_of_the_most_severe_failures_is_its_ending) {
    loop.keep({1, false, error_of(ExitCode::data_errors, "kept")});
    EXPECT_FALSE(loop.stops());
    EXPECT_FALSE(loop.note({1, false, error_of(ExitCode::io_error, "first")}));
    loop.note({1, false, error_of(ExitCode::io_error, "second")});
    loop.keep({1, false, error_of(ExitCode::data_errors, "less")});
    EXPECT_EQ(loop.outcome().error->cause, "first");
    EXPECT_EQ(loop.errors(), 4);
    EXPECT_EQ(loop.ending("parts", "wrong byte").status, ExitCode::io_error);
}

TEST_F(Loop, what_some_ranks_know_stops_the_others) {
    if (s.comm.is_root()) loop.note({1, false, error_of(ExitCode::io_error, "of the root")});
    EXPECT_FALSE(loop.inform(s.comm));
    EXPECT_EQ(loop.outcome().error->cause, "of the root");
    EXPECT_EQ(loop.errors(), s.comm.is_root() ? 1 : 0);
}

}  // namespace
}  // namespace effio
