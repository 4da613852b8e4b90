// SPDX-License-Identifier: BSD-3-Clause
// Turns and their summary as records and as tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/interference/summary.hpp"
#include "benchmarks/interference/turns.hpp"
#include "core/record.hpp"

namespace effio::interference {

/// "ior next to mdtest", "ior alone"; a benchmark that occurs twice is shown with the number of its
/// group.
std::string title_of(const Turn& turn, const std::vector<std::string>& benchmarks);
/// "2 mdtest"
std::string group_name(int group, const std::vector<std::string>& benchmarks);

/// What will be done; before the first turn, and in a plan.
std::string heading(const std::vector<std::string>& benchmarks, const std::vector<int>& ranks,
                    const std::vector<Turn>& turns, std::int64_t rounds);
/// One line with the result of a turn.
std::string line_of(const TurnDone& done, const std::vector<std::string>& benchmarks);

/// One for each kind of what the first run of a group measured; `number` of the turn from 1.
std::vector<Measurement> measurements_of(const TurnDone& done, const Part& part, int number,
                                         const std::vector<std::string>& benchmarks,
                                         const std::vector<int>& ranks, int nodes);
Figure figure_of(const Met& met, const std::vector<std::string>& benchmarks);

/// A group as the run line has it.
struct GroupOfRun {
    std::int64_t number = 1;
    std::string benchmark;
    int ranks = 1;
    int first_rank = 0;
    Json command;
};
struct SetUp {
    std::vector<GroupOfRun> groups;
    std::vector<Turn> turns;
    std::int64_t rounds = 1;
    std::string place;
};
/// The benchmark's part of the run line.
Json describe(const SetUp& set_up);
ResultInfo result_info();

/// Slow-downs over all phases: a row for each group, a column for what it was next to.
std::string matrix(const std::vector<SlowDown>& all, const std::vector<std::string>& benchmarks);
std::string phases_table(const std::vector<SlowDown>& all,
                         const std::vector<std::string>& benchmarks);
std::string met_table(const std::vector<Met>& met, const std::vector<std::string>& benchmarks);

}  // namespace effio::interference
