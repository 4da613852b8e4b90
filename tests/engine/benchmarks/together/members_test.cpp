// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/together/members.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace effio::together {
namespace {

struct Line {
    Options options;
    OptionTable table{"effio-mpi together", ""};
    Members members;

    Line() { options.declare(table); }
    Status make(const std::vector<std::string>& words) {
        if (auto parsed = table.parse(words); !parsed) return parsed;
        return make_members(options, members);
    }
    std::string fault(const std::vector<std::string>& words) {
        const auto made = make(words);
        return made ? "taken" : made.error().cause;
    }
    Json value(std::size_t member, const char* option) const {
        return members[member].table.values()[option];
    }
};

TEST(Members, each_group_has_its_own_ranks_directory_and_command) {
    Line line;
    ASSERT_TRUE(line.make({"-g", "4: ior --backend posix -d /data --transfer 4KiB,8KiB", "--group",
                           "2: mdtest -n 1 -d /data/", "-g", "1: b-eff"}));
    ASSERT_EQ(line.members.size(), 3U);
    EXPECT_EQ(ranks_of(line.members), 7);
    EXPECT_EQ(line.members[0].first_rank, 0);
    EXPECT_EQ(line.members[1].first_rank, 4);
    EXPECT_EQ(line.members[2].first_rank, 6);
    EXPECT_EQ(line.members[0].own_directory, "/data/group-1");
    EXPECT_EQ(line.value(0, "dir"), "/data/group-1");
    EXPECT_EQ(line.members[1].own_directory, "/data/group-2");
    EXPECT_EQ(line.members[2].own_directory, "");
    EXPECT_EQ(line.members[1].name(), "group 2 (mdtest)");
    EXPECT_EQ(line.members[2].invocation.arguments,
              (std::vector<std::string>{"effio-mpi", "b-eff"}));
}

TEST(Members, no_directory_is_made_for_what_has_no_files_or_makes_it_itself) {
    Line line;
    ASSERT_TRUE(line.make({"-g", "1: ior --backend null", "-g", "1: mdtest -n 1 --make-dir"}));
    EXPECT_EQ(line.members[0].own_directory, "");
    EXPECT_EQ(line.members[1].own_directory, "");
    EXPECT_EQ(line.value(1, "dir"), "./group-2");
}

TEST(Members, one_group_is_shown) {
    Line line;
    ASSERT_TRUE(line.make({"-g", "1: ior", "-g", "1: ior", "--show", "2", "--progress", "log"}));
    EXPECT_TRUE(line.members[0].job.quiet);
    EXPECT_EQ(line.members[0].job.progress, Live::none);
    EXPECT_FALSE(line.members[1].job.quiet);
    EXPECT_EQ(line.members[1].job.progress, Live::log);
}

TEST(Members, a_group_may_have_its_own_deadlines) {
    Line line;
    ASSERT_TRUE(line.make({"-g", "1: ior --watchdog 5s", "-g", "1: ior --agree-deadline 2s",
                           "--watchdog", "90s", "--agree-deadline", "7s"}));
    EXPECT_EQ(line.members[0].job.watchdog.count, 5);
    EXPECT_EQ(line.members[0].job.agree_deadline.count, 7);
    EXPECT_EQ(line.members[1].job.watchdog.count, 90);
    EXPECT_EQ(line.members[1].job.agree_deadline.count, 2);
}

TEST(Members, the_cap_is_shared_out_by_ranks) {
    Line line;
    ASSERT_TRUE(line.make({"-g", "3: ior", "-g", "1: mdtest -n 1", "-g", "2: ior --max-bytes 200",
                           "-g", "8: b-eff", "--max-bytes", "1000"}));
    EXPECT_EQ(line.value(0, "max-bytes"), 600);  // 3/4 of what 200 leave
    EXPECT_EQ(line.value(1, "max-bytes"), 200);
    EXPECT_EQ(line.value(2, "max-bytes"), 200);
}

TEST(Members, what_each_would_take_alone_is_shared_out_likewise) {
    Line line;
    ASSERT_TRUE(
        line.make({"-g", "3: ior", "-g", "1: mdtest -n 1", "-g", "2: ior --max-bytes 200"}));
    EXPECT_EQ(line.members[0].cap_share, 0.75);
    EXPECT_EQ(line.members[1].cap_share, 0.25);
    EXPECT_TRUE(line.value(0, "max-bytes").is_null());
}

TEST(Members, every_fault_is_reported_with_the_name_of_its_group) {
    EXPECT_EQ(Line().fault({"-g", "2: iro", "-g", "0: ior", "-g", "1: together -g x", "-g",
                            "1: classic ior", "-g", "1: ior --blok 3 --segments x", "-g",
                            "1: ior --quiet"}),
              "group 1: no benchmark 'iro'; did you mean ior?\n"
              "group 2: '0' before the colon is not a positive number of ranks; "
              "\"RANKS: BENCHMARK [options]\"\n"
              "group 3: a group cannot be made of groups\n"
              "group 4: no classic command lines here: use the options of effio\n"
              "group 5 (ior): unknown option --blok; did you mean --block?\n"
              "group 5 (ior): --segments: 'x' is not a whole number\n"
              "group 6 (ior): --quiet belongs to the whole job, not to a group");
    // Rules between options are the benchmark's own.
    EXPECT_EQ(Line().fault({"-g", "1: ior --block 3 --transfer 2"}).substr(0, 15),
              "group 1 (ior): ");
}

TEST(Members, the_job_has_its_own_faults) {
    EXPECT_EQ(Line().fault({}), "--group is needed, once for each group of ranks");
    EXPECT_EQ(Line().fault({"-g", "1: ior", "--show", "2"}),
              "--show 2: out of range; the command line has 1 group");
    EXPECT_EQ(Line().fault({"-g", "1: ior --max-bytes 200", "--max-bytes", "100"}),
              "--max-bytes: the groups' own are more in all");
    EXPECT_EQ(Line().fault({"-g", "2147483647: ior", "-g", "1: ior"}), "too many ranks in all");
}

TEST(Members, a_job_of_another_size_is_reported_what_it_needs) {
    Line line;
    ASSERT_TRUE(line.make({"-g", "3: ior", "-g", "1: mdtest -n 1"}));
    EXPECT_TRUE(check_ranks(line.members, 4));
    EXPECT_EQ(check_ranks(line.members, 2).error().cause,
              "the groups need 4 ranks in all, and the job has 2: launch it with mpiexec -n 4, or "
              "change the groups");
}

}  // namespace
}  // namespace effio::together
