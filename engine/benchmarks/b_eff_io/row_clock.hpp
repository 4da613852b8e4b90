// SPDX-License-Identifier: BSD-3-Clause
// By which clock a row is timed (docs/definitions/b-eff-io.md, What a row's time holds). No state.
#pragma once

#include "parallel/comm.hpp"
#include "parallel/common_clock.hpp"

namespace effio::b_eff_io {

/// The seconds over which a row's rate counts its bytes.
struct RowSpan {
    double seconds = 0;
    /// From the first rank's start to the last one's end: rank 0's clock did not see all of it.
    bool by_common_clock = false;
};

/// `root` is the row's time by rank 0's clock, between barriers, as the definition has it. Where
/// the ranks together took longer by more than this share, and by more than clocks differ, rank 0
/// left a barrier late: more ranks than processors.
inline constexpr double row_clock_share = 0.05;
inline constexpr double row_clock_seconds = 1e-4;
RowSpan row_span(double root, double all_ranks);

/// Collective: from the first start to the last stop, readings of the ranks' own clocks.
double span_of_all(const Comm& comm, const CommonClock& common, double start, double stop);

}  // namespace effio::b_eff_io
