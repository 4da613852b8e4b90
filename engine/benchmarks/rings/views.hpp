// SPDX-License-Identifier: BSD-3-Clause
// The results of the rings benchmark as records and as text, on the root.
#pragma once

#include <optional>

#include "benchmarks/rings/result.hpp"
#include "parallel/session.hpp"
#include "parallel/topology.hpp"

namespace effio::rings {

class View {
  public:
    View(Session& session, const Topology& topology) : session_(session), topology_(topology) {}

    /// A measurement for the pairs and one for each ring.
    void record(const LengthResult& length);
    /// The figures, and the tables with the lines of hpccoutf.txt. `complete`: nothing was left
    /// out.
    void finish(const LengthResult& latency, const LengthResult& bandwidth,
                std::optional<double> rmax_gflops, bool complete);

  private:
    void print(const LengthResult& latency, const LengthResult& bandwidth);

    Session& session_;
    const Topology& topology_;
};

}  // namespace effio::rings
