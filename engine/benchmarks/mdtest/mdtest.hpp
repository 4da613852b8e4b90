// SPDX-License-Identifier: BSD-3-Clause
// mdtest: how many names a file system creates, finds, reads and removes in a second
// (docs/definitions/mdtest.md), on a tree of the run's own, and on nothing else.
#pragma once

#include <memory>

#include "benchmarks/mdtest/result.hpp"
#include "frame/benchmark.hpp"

namespace effio::mdtest {

/// `view`, if given, is notified of everything, as the result file and the tables are.
/// `rank_table` is the form of the file of --save-rank-details.
std::unique_ptr<Benchmark> make_benchmark(
    std::unique_ptr<Observer> view = nullptr,
    std::unique_ptr<RankTable> rank_table = make_rank_table());

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input);

}  // namespace effio::mdtest
