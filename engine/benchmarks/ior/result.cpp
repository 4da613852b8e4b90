// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/result.hpp"

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

}  // namespace effio::ior
