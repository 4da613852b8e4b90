// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/result.hpp"

#include <algorithm>
#include <utility>

namespace effio::mdtest {

void RunResult::add(const PhaseResult& result) {
    auto it = std::find_if(phases.begin(), phases.end(), [&](const PhaseSummary& s) {
        return s.phase == result.phase && s.ranks == result.ranks && s.unique == result.unique;
    });
    if (it == phases.end()) {
        PhaseSummary first;
        first.phase = result.phase;
        first.ranks = result.ranks;
        first.unique = result.unique;
        it = phases.insert(phases.end(), std::move(first));
    }
    const double seconds = result.total_seconds();
    if (!result.has_rate()) {
        if (it->invalid++ == 0) it->why_invalid = result.why_no_rate();
        return;
    }
    it->errors += result.error_count;
    it->rates.add(result.rate());
    it->values.push_back(result.rate());
    it->seconds.add(seconds);
    it->milliseconds.add(1e3 * seconds * result.ranks / static_cast<double>(result.operations));
}

}  // namespace effio::mdtest
