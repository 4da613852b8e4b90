// SPDX-License-Identifier: BSD-3-Clause
// Makes the clock of a communicator's ranks count the processors' ticks, where these are a clock on
// all nodes (core/tick_counter.hpp).
//
// The first rank of each node finds the rate from a reading before MPI was started, and the node's
// other ranks take its scale, so that all ranks of a node read one clock. Each rank compares the
// scale with CLOCK_MONOTONIC on its own processor. Where any rank finds a difference, or two
// calibrations disagree, all ranks keep CLOCK_MONOTONIC.
#pragma once

#include <string>

#include "core/json.hpp"
#include "parallel/comm.hpp"
#include "parallel/topology.hpp"

namespace effio {

/// What real time is read from (option --clock).
enum class ClockChoice : char { automatic, monotonic };

/// Readings of a rank before and after MPI was started.
struct StartReadings {
    TickReading before_mpi;
    TickReading after_mpi;
};

/// How far a scale is off between two readings, beyond what the readings may be.
struct TickDrift {
    double relative = 0;  ///< by the raw clock; positive: the scale is fast
    double within = 0;    ///< the most that the readings add
    bool agrees() const;
};
TickDrift drift_between(const TickScale& scale, const TickReading& first, const TickReading& last);

class TickClock {
  public:
    /// Collective over `comm`, whose topology it is. A virtual clock, and one that counts ticks
    /// already, stay as they are.
    void start(const Comm& comm, const Topology& topology, const StartReadings& readings,
               ClockChoice choice);
    /// On the root, after `start`: the member `ticks` of `clock` in the run line; null in virtual
    /// time.
    Json describe(const Clock& clock) const;
    /// Collective: the second calibration, for the end line; null where ticks are not counted, and
    /// on all ranks but the root.
    Json at_end(const Comm& comm) const;

  private:
    TickReading started_;
    double relative_error_ = 0;
    std::string refused_;  ///< why ticks are not counted
};

}  // namespace effio
