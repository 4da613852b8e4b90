// SPDX-License-Identifier: BSD-3-Clause
// One time for all ranks of a communicator, so that an interval can run from the first rank's start
// to the last one's end.
//
// A barrier's end is not a common start: with more ranks than cores a rank may leave it when others
// have done their work already, and the longest rank's own time is then far shorter than what
// passed.
//
// The ranks of a node read one monotonic clock. The clocks of nodes are compared by messages
// between their first ranks before each interval, because they drift apart; the time that this
// yields for a node is wrong by half of the shortest round trip at most in each of log2(nodes)
// comparisons. Virtual clocks are one time already.
#pragma once

#include <optional>

#include "parallel/comm.hpp"
#include "parallel/topology.hpp"

namespace effio {

class CommonClock {
  public:
    /// Collective over `comm`, which must outlive this. `topology` is its own or that of a group
    /// that contains it.
    CommonClock(const Comm& comm, const Topology& topology);

    /// Collective: the start of an interval, which is a barrier. This rank's clock after it.
    double start();
    /// Collective, outside of the interval: seconds by which this rank left the barrier after the
    /// first one did. Seconds since its own start plus these are seconds since the common start.
    double late() const;
    /// Converts a reading of this rank's clock to common time, by the comparison of the latest
    /// start().
    double at(double own_clock) const { return own_clock + ahead_; }

  private:
    void compare_nodes();

    const Comm& comm_;
    std::optional<Comm> node_;     ///< of this rank; only where there are several
    std::optional<Comm> leaders_;  ///< the first ranks of the nodes, on these
    double ahead_ = 0;             ///< the common time's lead over this rank's clock
    double start_ = 0;
};

}  // namespace effio
