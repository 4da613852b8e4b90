// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace effio::ior {

const Span& PhaseResult::span(std::string_view part) const {
    static const Span none;
    const auto it =
        std::find_if(spans.begin(), spans.end(), [&](const Span& s) { return s.part == part; });
    return it == spans.end() ? none : *it;
}

std::string PhaseResult::why_invalid() const {
    return error_list.empty() ? "stopped by a signal" : error_list.front().text();
}

double PhaseResult::transfer_rate() const {
    const double time = span("transfer").seconds();
    return time > 0 ? static_cast<double>(bytes) / time : 0;
}

double PhaseResult::operation_rate() const {
    const double time = span("transfer").seconds();
    return time > 0 ? static_cast<double>(operations) / time : 0;
}

UntilCi::Subject bandwidth_of(Access access, std::int64_t transfer) {
    return {fmt::format("{}_bandwidth", name(access)),
            Json{{"access", name(access)}, {"transfer_bytes", transfer}}, "B/s",
            fmt::format("{}, transfer {}", name(access), format_exact(Bytes{transfer}))};
}

}  // namespace effio::ior
