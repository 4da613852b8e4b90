// SPDX-License-Identifier: BSD-3-Clause
// What an accepted command line leads to without a run: the echo of its options, and the plan.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/registry.hpp"
#include "frame/run_job.hpp"

namespace effio {

inline void plan(Benchmark& benchmark, const std::vector<std::string>& words) {
    JobOptions options;
    OptionTable table(std::string(benchmark.name()), std::string(benchmark.purpose()));
    benchmark.declare(table);
    options.declare(table);
    if (!table.parse(words) || !benchmark.check()) return;
    (void)table.values();
    (void)benchmark.needed_directories();
    PlanInput input;
    input.ranks = static_cast<int>(options.plan_ranks.value_or(4));
    input.ranks_per_node = static_cast<int>(options.plan_ranks_per_node.value_or(input.ranks));
    input.rate = options.plan_rate.count;
    if (const auto made = benchmark.plan(input); made) {
        (void)json_line(data_of(*made, input, {}));
    }
}

/// Of the benchmark with this name, if there is one.
inline void plan_named(const std::string& name, const std::vector<std::string>& words) {
    for (const auto make : benchmark_registry()) {
        const auto benchmark = make();
        if (benchmark->name() == name) plan(*benchmark, words);
    }
}

}  // namespace effio
