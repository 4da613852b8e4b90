// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/result.hpp"

namespace effio::ior {

void PhaseResult::remark_on(const std::string& what) {
    if (what.empty()) return;
    if (!remarked.empty()) remarked += "; ";
    remarked += what;
}

}  // namespace effio::ior
