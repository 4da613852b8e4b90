// SPDX-License-Identifier: BSD-3-Clause
// The results of the rings benchmark as records and as text, on the root.
#pragma once

#include <optional>

#include "benchmarks/rings/result.hpp"
#include "benchmarks/round_figures.hpp"
#include "parallel/session.hpp"
#include "parallel/topology.hpp"

namespace effio::rings {

class View {
  public:
    View(Session& session, const Topology& topology) : session_(session), topology_(topology) {}

    /// A measurement for the pairs and one for each ring.
    void record(const LengthResult& length, std::int64_t round);
    /// The means of the rounds' figures, and the tables of the last round with the lines of
    /// hpccoutf.txt. No round is complete if there are no figures.
    void finish(const LengthResult& latency, const LengthResult& bandwidth,
                const RoundFigures& rounds);

  private:
    void print(const LengthResult& latency, const LengthResult& bandwidth,
               const std::vector<Figure>& means, std::int64_t rounds);

    Session& session_;
    const Topology& topology_;
};

/// Those of one round: of one length those in hpccoutf.txt, of both what is made of them.
enum class Length : char { latency, bandwidth };
std::vector<Figure> figures_of(Length which, const LengthResult& length, int ranks,
                               std::optional<double> rmax_gflops);
/// The figures of one length that --until-ci goes by.
std::vector<std::string> deciding(Length which);

}  // namespace effio::rings
