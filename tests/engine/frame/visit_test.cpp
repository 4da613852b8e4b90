// SPDX-License-Identifier: BSD-3-Clause
// Visits in virtual time: the length of each part is given, so the times are known.
#include "frame/visit.hpp"

#include <gtest/gtest.h>

#include "../test_session.hpp"

namespace effio {
namespace {

Status too_bad() {
    return io_error("open", "there", "it is not there");
}

class Visits : public testing::Test {
  protected:
    /// Seconds of this rank; the name is heard of.
    VisitSteps::Part part(const std::string& name, double seconds, bool alone) {
        return {name,
                [this, name, seconds] {
                    done.push_back(name);
                    s.clock.advance(seconds);
                    return name == fails ? too_bad() : Status();
                },
                alone};
    }
    /// Opens in as many seconds as the rank's number and one, moves in two, syncs in three and
    /// closes in four, where the close is never agreed on.
    VisitSteps steps(bool alone) {
        VisitSteps all;
        all.opening = {part("open", rank + 1, alone)};
        all.moving = part("transfer", 2, alone);
        all.sync = part("sync", 3, alone);
        all.sync_counts = true;
        all.close = part("close", 4, true);
        all.closes_anyway = alone;
        all.bytes = [](bool) { return VisitSteps::Bytes{}; };
        return all;
    }
    Visited carry_out(const VisitSteps& all) {
        return effio::carry_out({s.session, s.comm, topology, common, no_file_system}, all, mine);
    }
    static std::vector<std::string> names(const Visited& seen) {
        std::vector<std::string> all;
        for (const auto& part : seen.parts) all.push_back(part.name);
        return all;
    }

    TestSession s{Clock::Kind::virtual_time};
    const int rank = s.comm.rank();
    const int ranks = s.comm.size();
    const bool last = rank == ranks - 1;
    Topology topology = find_topology(s.comm);
    CommonClock common{s.comm, topology};
    std::optional<FileSystem> no_file_system;
    Outcome mine;
    std::string fails;
    std::vector<std::string> done;
    const std::vector<std::string> all_parts{"open", "transfer", "sync", "close"};
};

TEST_F(Visits, wait_for_the_slowest_after_each_part_that_is_agreed_on) {
    const Visited seen = carry_out(steps(false));
    EXPECT_TRUE(seen.fine);
    EXPECT_DOUBLE_EQ(seen.part("open").end, rank + 1);
    EXPECT_DOUBLE_EQ(seen.part("open").agreed, ranks);
    EXPECT_DOUBLE_EQ(seen.part("transfer").begin, ranks);
    EXPECT_DOUBLE_EQ(seen.part("close").end, ranks + 9);
    EXPECT_DOUBLE_EQ(seen.counted, ranks + 9);
    EXPECT_EQ(seen.seconds.back().name, "agree");
    EXPECT_DOUBLE_EQ(seen.seconds.back().value, ranks - (rank + 1));
}

TEST_F(Visits, what_is_checked_after_the_open_is_in_no_time) {
    for (const bool alone : {false, true}) {
        VisitSteps all = steps(alone);
        all.confirm = part("confirm", 10 * (rank + 1), alone).work;
        const Visited seen = carry_out(all);
        EXPECT_TRUE(seen.fine);
        EXPECT_EQ(done[1], "confirm");
        EXPECT_EQ(names(seen), all_parts);
        EXPECT_DOUBLE_EQ(seen.part("transfer").begin, alone ? rank + 1 : ranks);
        EXPECT_DOUBLE_EQ(seen.part("close").end, (alone ? rank + 1 : ranks) + 9);
        EXPECT_DOUBLE_EQ(seen.seconds.front().value, (alone ? rank + 1 : ranks) + 9);
        done.clear();
    }
    // What fails there is the end.
    fails = "confirm";
    VisitSteps all = steps(false);
    all.confirm = part("confirm", 1, false).work;
    EXPECT_FALSE(carry_out(all).fine);
    EXPECT_EQ(done, (std::vector<std::string>{"open", "confirm"}));
}

TEST_F(Visits, do_not_wait_where_the_ranks_continue_alone) {
    const Visited seen = carry_out(steps(true));
    EXPECT_TRUE(seen.fine);
    EXPECT_DOUBLE_EQ(seen.part("open").agreed, rank + 1);
    EXPECT_DOUBLE_EQ(seen.part("sync").begin, rank + 3);
    EXPECT_DOUBLE_EQ(seen.part("close").end, rank + 10);
    EXPECT_DOUBLE_EQ(seen.counted, rank + 10);
    EXPECT_DOUBLE_EQ(seen.seconds.back().value, 0);
}

TEST_F(Visits, leave_the_sync_out_of_the_rate_where_it_is_not_counted) {
    VisitSteps all = steps(false);
    all.sync_counts = false;
    EXPECT_DOUBLE_EQ(carry_out(all).counted, ranks + 6);
}

TEST_F(Visits, one_that_fails_alone_stops_no_rank_and_closes_its_file) {
    if (last) fails = "open";
    const Visited seen = carry_out(steps(true));
    EXPECT_EQ(seen.fine, !last);
    // The ranks report the same parts; otherwise their times could not be combined.
    EXPECT_EQ(names(seen), all_parts);
    EXPECT_EQ(done, last ? (std::vector<std::string>{"open", "close"}) : all_parts);
    EXPECT_EQ(mine.error_count, last ? 1 : 0);
    EXPECT_DOUBLE_EQ(seen.counted, last ? ranks + 4 : rank + 10);
}

TEST_F(Visits, one_that_failed_alone_comes_to_where_the_others_meet) {
    if (last) fails = "open";
    VisitSteps all = steps(true);
    all.moving_meets = true;
    all.moving.work = [&] {
        s.comm.barrier();
        return Status();
    };
    const Visited seen = carry_out(all);
    EXPECT_EQ(seen.fine, !last);
    EXPECT_DOUBLE_EQ(seen.part("transfer").end, ranks);
}

TEST_F(Visits, all_stop_after_a_part_that_failed_on_one_rank) {
    if (last) fails = "open";
    const Visited seen = carry_out(steps(false));
    EXPECT_FALSE(seen.fine);
    EXPECT_EQ(done, std::vector<std::string>{"open"});
    EXPECT_EQ(names(seen), done);
    ASSERT_TRUE(seen.agreed.error);
    EXPECT_EQ(seen.agreed.error->rank, ranks - 1);
    EXPECT_EQ(mine.error_count, last ? 1 : 0);
}

TEST_F(Visits, agree_at_the_next_part_that_is_not_gone_through_alone) {
    if (last) fails = "open";
    VisitSteps all = steps(false);
    all.opening.front().alone = true;
    const Visited seen = carry_out(all);
    EXPECT_FALSE(seen.fine);
    EXPECT_EQ(names(seen), (std::vector<std::string>{"open", "transfer"}));
    EXPECT_EQ(done.size(), last ? 1U : 2U);
}

TEST_F(Visits, wrong_data_stop_no_rank) {
    Error wrong = io_error("verify", "there", "other bytes");
    wrong.exit_code = ExitCode::data_errors;
    if (last) mine.fail(wrong);
    for (const bool alone : {false, true}) {
        done.clear();
        EXPECT_TRUE(carry_out(steps(alone)).fine);
        EXPECT_EQ(done, all_parts);
    }
}

TEST_F(Visits, evidence_judges_what_was_read_and_else_what_was_written) {
    VisitSteps all = steps(false);
    all.bytes = [&](bool fine) -> VisitSteps::Bytes { return {fine && last ? 7 : 0, 100}; };
    Visited seen = carry_out(all);
    EXPECT_EQ(seen.bytes, 7);
    ASSERT_TRUE(seen.cache);
    all.bytes = [](bool) -> VisitSteps::Bytes { return {0, 100}; };
    EXPECT_EQ(carry_out(all).bytes, 100 * ranks);
    all.watched = false;
    seen = carry_out(all);
    EXPECT_FALSE(seen.cache);
    EXPECT_EQ(seen.bytes, 0);
}

TEST(VisitResults, a_check_that_failed_after_the_visit_makes_it_invalid_and_wrong_data_do_not) {
    VisitResult result;
    Agreed wrong;
    wrong.error = io_error("verify", "there", "other bytes");
    wrong.error->exit_code = ExitCode::data_errors;
    wrong.error_count = 3;
    result.add(wrong);
    EXPECT_TRUE(result.valid);
    EXPECT_EQ(result.error_count, 3);
    Agreed failed;
    failed.error = io_error("read", "there", "input/output error");
    failed.error_count = 1;
    result.add(failed);
    EXPECT_FALSE(result.valid);
    EXPECT_EQ(result.error_count, 4);
    result.add(wrong);
    EXPECT_FALSE(result.valid);
    EXPECT_EQ(result.errors.size(), 3U);
}

}  // namespace
}  // namespace effio
