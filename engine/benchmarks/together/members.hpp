// SPDX-License-Identifier: BSD-3-Clause
// The groups of a job as its command line gives them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "frame/benchmark.hpp"
#include "frame/job/options.hpp"

namespace effio::together {

/// The command's own options, in addition to those of any job.
struct Options {
    std::vector<std::string> groups;
    std::int64_t show = 1;
    std::optional<Bytes> max_bytes;
    JobOptions job;

    /// --group and --max-bytes alone.
    void declare_groups(OptionTable& table);
    void declare(OptionTable& table);
};

/// One group: a benchmark with its options set.
struct Member {
    Member(int the_number, std::unique_ptr<Benchmark> what);
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    int number;  ///< from 1
    int ranks = 1;
    int first_rank = 0;
    std::unique_ptr<Benchmark> benchmark;
    JobOptions job;
    OptionTable table;  ///< refers to the two above
    Invocation invocation;
    std::string own_directory;  ///< where its files go; empty if it has no files
    double cap_share = 1;

    std::string name() const;  ///< "group 2 (mdtest)"
};

using Members = std::deque<Member>;

/// The group that the rank of the job belongs to.
const Member& member_of(const Members& members, int rank);

/// Fills `members`. Every fault of all groups is reported, each with the group's name.
Status make_members(const Options& options, Members& members);

int ranks_of(const Members& members);

/// Ranks of the other groups that are in virtual time as well: they share what `sim` models.
int ranks_of_others(const Members& members, const Member& mine);

/// Refuses a job that has not as many ranks as the groups ask for.
Status check_ranks(const Members& members, std::int64_t ranks);

}  // namespace effio::together
