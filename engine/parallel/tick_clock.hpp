// SPDX-License-Identifier: BSD-3-Clause
// Makes the clocks of a communicator's ranks read the processors' time stamp counters, if these are
// reliable on all nodes (core/tick_counter.hpp).
//
// The first rank of each node computes the rate from a reading before the start of MPI and a later
// one. The other ranks of the node use the same scale, so that all ranks of a node read the same
// clock. Each rank compares the scale with CLOCK_MONOTONIC on its own processor. If any rank finds
// a difference, or two calibrations disagree, all ranks keep CLOCK_MONOTONIC.
#pragma once

#include <string>

#include "core/json.hpp"
#include "parallel/comm.hpp"
#include "parallel/topology.hpp"

namespace effio {

/// The source of real time (option --clock).
enum class ClockChoice : char { automatic, monotonic };

/// Readings of a rank before and after the start of MPI.
struct StartReadings {
    TickReading before_mpi;
    TickReading after_mpi;
};

/// The error of a scale between two readings.
struct TickDrift {
    double relative = 0;  ///< against CLOCK_MONOTONIC_RAW; positive: the scale is fast
    double within = 0;    ///< error bound of the readings
    bool agrees() const;
};
TickDrift drift_between(const TickScale& scale, const TickReading& first, const TickReading& last);

class TickClock {
  public:
    /// Collective over `comm`, whose topology is given. Does not change a virtual clock, or a clock
    /// that already counts ticks.
    void start(const Comm& comm, const Topology& topology, const StartReadings& readings,
               ClockChoice choice);
    /// On the root, after `start`: the member `ticks` of `clock` in the run line; null in virtual
    /// time.
    Json describe(const Clock& clock) const;
    /// Collective: the second calibration, for the end line; null if ticks are not counted, and on
    /// all ranks except the root.
    Json at_end(const Comm& comm) const;

  private:
    TickReading started_;
    double relative_error_ = 0;
    std::string refused_;  ///< why ticks are not counted
};

}  // namespace effio
