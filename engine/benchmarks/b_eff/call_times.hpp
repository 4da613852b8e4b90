// SPDX-License-Identifier: BSD-3-Clause
// How long single calls take: a separate pass, so that reading the clock does not disturb what
// b_eff is made of. Beyond the definition.
#pragma once

#include "benchmarks/b_eff/messages.hpp"
#include "benchmarks/b_eff/result.hpp"
#include "frame/benchmark.hpp"

namespace effio::b_eff {

/// Collective. For each length all rings and random rings with MPI_Sendrecv, at most 100 loops
/// each, every call timed, the waiting for the partners included. The result file gets a
/// measurement with a histogram for the steps within nodes and one for those between nodes. False
/// if a signal stopped it.
bool time_calls(Job& job, const Comm& line, const ExchangeMaker& exchanges, const RunResult& run,
                Messages& messages);

/// What its measurements hold.
ResultInfo call_times_info();

}  // namespace effio::b_eff
