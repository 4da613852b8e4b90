// SPDX-License-Identifier: BSD-3-Clause
#include "core/certainty.hpp"

#include "core/rounds.hpp"
#include "core/stats.hpp"

namespace effio {

std::optional<Range95> range95(std::span<const double> values) {
    if (values.size() < 2) return {};
    if (const auto interval = interval_of_rounds(values)) {
        return Range95{interval->mean - interval->half_width,
                       interval->mean + interval->half_width};
    }
    const Samples few = samples_of(values);
    return Range95{few.mean() - few.confidence95(), few.mean() + few.confidence95()};
}

bool are_apart(std::span<const double> a, std::span<const double> b) {
    const auto first = range95(a);
    const auto second = range95(b);
    return first && second && (first->high < second->low || second->high < first->low);
}

std::string_view why_not_apart(std::int64_t least_count) {
    return least_count < RoundsInterval::least
               ? "with fewer than five repetitions the rates are not clearly apart"
               : "the 95 % intervals of the rates overlap";
}

bool is_known_within(std::span<const double> values, double half) {
    const auto range = range95(values);
    return range && (range->high - range->low) / 2 <= half;
}

bool can_be_share(const Range95& range) {
    return range.high >= -share_tolerance && range.low <= 1 + share_tolerance;
}

}  // namespace effio
