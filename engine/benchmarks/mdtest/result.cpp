// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/result.hpp"

#include <algorithm>

namespace effio::mdtest {

void RunResult::add(const PhaseResult& result) {
    auto it = std::find_if(phases.begin(), phases.end(), [&](const PhaseSummary& s) {
        return s.phase == result.phase && s.ranks == result.ranks && s.unique == result.unique;
    });
    if (it == phases.end()) {
        it = phases.insert(
            phases.end(),
            PhaseSummary{result.phase, result.ranks, result.unique, {}, {}, {}, {}, 0, {}, 0});
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
