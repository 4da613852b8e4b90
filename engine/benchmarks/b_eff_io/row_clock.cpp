// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/row_clock.hpp"

#include <array>
#include <span>

namespace effio::b_eff_io {

RowSpan row_span(double root, double all_ranks) {
    const double beyond = all_ranks - root;
    if (beyond <= row_clock_share * root || beyond <= row_clock_seconds) return {root, false};
    return {all_ranks, true};
}

double span_of_all(const Comm& comm, const CommonClock& common, double start, double stop) {
    std::array moments{-common.at(start), common.at(stop)};
    comm.max(std::span<double>(moments));
    return moments[1] + moments[0];
}

}  // namespace effio::b_eff_io
