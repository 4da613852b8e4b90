// SPDX-License-Identifier: BSD-3-Clause
// Chooses the clock that times a row (docs/definitions/b-eff-io.md, What a row's time holds). No
// state.
#pragma once

#include "parallel/comm.hpp"
#include "parallel/common_clock.hpp"

namespace effio::b_eff_io {

/// The seconds of a row's rate.
struct RowSpan {
    double seconds = 0;
    /// `seconds` are from the first rank's start to the last rank's end, because rank 0's clock
    /// does not cover all of it.
    bool by_common_clock = false;
};

/// `root` is the row's time by rank 0's clock, between barriers, as in the definition. If all ranks
/// together took longer by more than this share, and by more than clocks can differ, rank 0 left a
/// barrier late. That happens with more ranks than processors.
inline constexpr double row_clock_share = 0.05;
inline constexpr double row_clock_seconds = 1e-4;
RowSpan row_span(double root, double all_ranks);

/// Collective: seconds from the first start to the last stop. `start` and `stop` are readings of
/// this rank's clock.
double span_of_all(const Comm& comm, const CommonClock& common, double start, double stop);

}  // namespace effio::b_eff_io
