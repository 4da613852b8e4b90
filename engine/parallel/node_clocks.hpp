// SPDX-License-Identifier: BSD-3-Clause
// By what clock a run is timed, and how far the clocks of its nodes are apart, for its result.
//
// Before the first and after the last measurement the root asks the first ranks of the other nodes
// for their clocks, one node after the other, and so knows each within half a round trip. Of many
// nodes it asks some, evenly spaced, so that this takes some milliseconds on any
// number of ranks. Nothing is corrected by it: what compares the clocks of ranks compares them anew
// before each interval (CommonClock).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "parallel/ask_clock.hpp"
#include "parallel/comm.hpp"
#include "parallel/tick_clock.hpp"
#include "parallel/topology.hpp"

namespace effio {

/// The numbers of at most `most` of `nodes` nodes, the first one and others evenly among the rest.
std::vector<int> compared_nodes(int nodes, int most);

class NodeClocks {
  public:
    static constexpr int most_nodes = 64;

    /// Collective over `comm`, whose topology is given. From then on its clock counts ticks if all
    /// nodes can (TickClock).
    NodeClocks(const Comm& comm, const Topology& topology, const StartReadings& readings,
               ClockChoice choice);

    /// Collective; on the root the member `clock` of the run line (docs/results.md).
    Json at_begin();
    /// Collective, after at_begin; on the root what the end line says: how far apart the clocks are
    /// now, and by how much that changed. Null with one node and in virtual time.
    Json at_end() const;
    /// Collective: the root adds all of it to `detail` of the end line, and warns on stderr if a
    /// counter changed its rate. `speaker`: see Session.
    void note_end(Json& detail, const std::string& speaker) const;

  private:
    /// One node's clock, seen from the root's.
    struct Seen {
        int node = 0;
        std::string name;
        Ahead ahead;
    };
    std::vector<Seen> compare() const;

    const Comm& comm_;
    TickClock ticks_;
    std::vector<int> nodes_;          ///< that are compared, by number
    std::optional<Comm> leaders_;     ///< the first ranks of these, on them; only where several are
    std::vector<std::string> names_;  ///< of these nodes, on the root
    std::vector<std::string> sources_;  ///< of time in their kernels, likewise
    std::vector<Seen> begin_;
    double begun_ = 0;
};

}  // namespace effio
