// SPDX-License-Identifier: BSD-3-Clause
// The limits that are not the frame's: each collective over the session's ranks.
#pragma once

#include <functional>
#include <string>

#include "benchmarks/probe/probe.hpp"
#include "core/fields.hpp"
#include "frame/benchmark.hpp"
#include "parallel/agree.hpp"

namespace effio::probe {

/// One limit: what it is, and its value; the figure of the result.
struct Limit {
    std::string name;  ///< "memory copy, one process"
    Metric metric;
    Facts detail = {};
};
/// Details of limits.
Fact processes(std::int64_t count);
Fact backend(const std::string& name);
Fact cache(std::string_view where);
FieldInfos limit_details();
using ReportLimit = std::function<void(Limit)>;

/// Copies from one buffer into another, by one process and by all at once. Nothing is measured in
/// virtual time.
void memory_limits(Job& job, const Parameters& p, const ReportLimit& report, Outcome& outcome);

/// Separate files for each process, in one directory: created, looked up by a process of another
/// node, removed. `path` names file `i` of the run's.
void name_limits(Job& job, const Parameters& p, const std::function<std::string(int i)>& path,
                 const ReportLimit& report, Outcome& outcome);

/// Pairs, and rings in the ranks' order and at random.
void message_limits(Job& job, const Parameters& p, const ReportLimit& report, Outcome& outcome);

}  // namespace effio::probe
