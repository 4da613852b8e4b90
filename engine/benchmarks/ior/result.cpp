// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/result.hpp"

#include <fmt/format.h>

namespace effio::ior {

void PhaseResult::remark_on(const std::string& what) {
    if (what.empty()) return;
    if (!remarked.empty()) remarked += "; ";
    remarked += what;
}

UntilCi::Subject bandwidth_of(Access access, std::int64_t transfer) {
    return {fmt::format("{}_bandwidth", name(access)),
            Json{{"access", name(access)}, {"transfer_bytes", transfer}}, "B/s",
            fmt::format("{}, transfer {}", name(access), format_exact(Bytes{transfer}))};
}

}  // namespace effio::ior
