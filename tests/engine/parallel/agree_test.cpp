// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/agree.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "parallel/from_root.hpp"
#include "test_session.hpp"

namespace effio {
namespace {

Error error_of(ExitCode code, const std::string& cause) {
    Error e = io_error("MPI_File_write", "/d/f", cause);
    e.exit_code = code;
    return e;
}

TEST(Agree, without_trouble_there_is_none) {
    TestSession s;
    const Agreed agreed = agree(s.session, s.comm, {});
    EXPECT_FALSE(agreed.failed());
    EXPECT_FALSE(agreed.interrupted);
    EXPECT_EQ(agreed.error_count, 0);
}

TEST(Agree, every_rank_learns_the_words_of_the_one_that_failed) {
    TestSession s;
    s.session.host = "n" + std::to_string(s.comm.rank());
    for (int failing = 0; failing < s.comm.size(); ++failing) {
        Outcome mine;
        if (s.comm.rank() == failing) {
            Error e = system_error("pwrite", "/d/f", ENOSPC, 4096);
            e.mpi_class = 39;
            mine.fail(e);
            mine.fail(io_error("pwrite", "/d/f", "the second one"));
        }
        const Agreed agreed = agree(s.session, s.comm, mine);
        ASSERT_TRUE(agreed.failed());
        EXPECT_EQ(agreed.error_count, 2);
        EXPECT_EQ(agreed.error->exit_code, ExitCode::io_error);
        EXPECT_EQ(agreed.error->operation, "pwrite");
        EXPECT_EQ(agreed.error->path, "/d/f");
        EXPECT_EQ(agreed.error->cause, "No space left on device");
        EXPECT_EQ(agreed.error->offset, 4096);
        EXPECT_EQ(agreed.error->system_code, ENOSPC);
        EXPECT_EQ(agreed.error->mpi_class, 39);
        EXPECT_EQ(agreed.error->rank, failing);
        EXPECT_EQ(agreed.error->host, "n" + std::to_string(failing));
    }
}

TEST(Agree, the_lowest_of_several_ranks_speaks) {
    TestSession s;
    Outcome mine;
    if (s.comm.rank() != 0 || s.comm.size() == 1) {
        mine.fail(error_of(ExitCode::io_error, std::to_string(s.comm.rank())));
    }
    const Agreed agreed = agree(s.session, s.comm, mine);
    ASSERT_TRUE(agreed.failed());
    EXPECT_EQ(agreed.error->cause, s.comm.size() == 1 ? "0" : "1");
    EXPECT_EQ(agreed.error_count, std::max(1, s.comm.size() - 1));
}

TEST(Agree, the_gravest_error_outranks_lower_ranks) {
    TestSession s;
    Outcome mine;
    const bool last = s.comm.rank() == s.comm.size() - 1;
    mine.fail(error_of(last ? ExitCode::io_error : ExitCode::data_errors, "x"));
    const Agreed agreed = agree(s.session, s.comm, mine);
    ASSERT_TRUE(agreed.failed());
    EXPECT_EQ(agreed.error->exit_code, ExitCode::io_error);
    EXPECT_EQ(agreed.error->rank, s.comm.size() - 1);
    EXPECT_EQ(agreed.error_count, s.comm.size());
}

TEST(Agree, an_interruption_seen_by_one_is_known_to_all) {
    TestSession s;
    Outcome mine;
    mine.interrupted = s.comm.rank() == s.comm.size() - 1;
    const Agreed agreed = agree(s.session, s.comm, mine);
    EXPECT_TRUE(agreed.interrupted);
    EXPECT_FALSE(agreed.failed());
}

TEST(Agree, wrong_data_count_without_an_error) {
    TestSession s;
    Outcome mine;
    mine.error_count = s.comm.rank() + 1;
    const Agreed agreed = agree(s.session, s.comm, mine);
    EXPECT_EQ(agreed.error_count, s.comm.size() * (s.comm.size() + 1) / 2);
    EXPECT_FALSE(agreed.failed());
}

TEST(Agree, words_that_are_not_utf8_arrive) {
    TestSession s;
    Outcome mine;
    if (s.comm.is_root()) mine.fail(io_error("open", "/d/\xff", "gone"));
    const Agreed agreed = agree(s.session, s.comm, mine);
    ASSERT_TRUE(agreed.failed());
    EXPECT_EQ(agreed.error->path, "/d/\uFFFD");
}

TEST(Agree, a_slow_rank_within_the_deadline_is_waited_for) {
    TestSession s;
    s.session.agree_deadline_seconds = 30;
    Outcome mine;
    if (s.comm.is_root()) {
        mine.fail(error_of(ExitCode::io_error, "x"));
    } else {
        const double until = Clock::monotonic_seconds() + 0.05;
        while (Clock::monotonic_seconds() < until) {
        }
    }
    EXPECT_TRUE(agree(s.session, s.comm, mine).failed());
}

TEST(Agree, in_virtual_time_it_costs_one_collective_call) {
    TestSession s(Clock::Kind::virtual_time);
    s.clock.set_collective_cost(0.25);
    s.clock.advance(s.comm.rank());
    (void)agree(s.session, s.comm, {});
    EXPECT_EQ(s.clock.now(), s.comm.size() - 1 + 0.25);
}

TEST(FromRoot, what_only_the_root_reads_is_known_to_all) {
    TestSession s;
    int reads = 0;
    const auto number = from_root(s.comm, [&]() -> Result<std::int64_t> { return 41 + ++reads; });
    ASSERT_TRUE(number);
    EXPECT_EQ(*number, 42);
    EXPECT_EQ(reads, s.comm.is_root() ? 1 : 0);
    const std::string text("a\0b\n", 4);
    const auto words = from_root(s.comm, [&]() -> Result<std::string> { return text; });
    ASSERT_TRUE(words);
    EXPECT_EQ(*words, text);
}

TEST(FromRoot, the_roots_failure_is_a_usage_error_of_all) {
    TestSession s;
    const auto none = from_root(
        s.comm, [&]() -> Result<std::int64_t> { return system_error("open", "/d/f", ENOENT); });
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().exit_code, ExitCode::usage);
    EXPECT_EQ(none.error().cause, system_error("open", "/d/f", ENOENT).text());
}

}  // namespace
}  // namespace effio
