// SPDX-License-Identifier: BSD-3-Clause
// The results of the rings benchmark as records and as text; on the root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "frame/ring_patterns/ring_result.hpp"
#include "frame/round_figures.hpp"
#include "parallel/session.hpp"

namespace effio::rings {

/// A measurement for the pairs and one for each ring.
void record(Recorder& recorder, const LengthResult& length, int ranks, int nodes,
            std::int64_t round);
/// The means of the rounds' figures; no round is complete if there are none.
void record(Recorder& recorder, const RoundFigures& rounds);
/// The tables of the last round, with the lines of hpccoutf.txt.
void print(Console& console, const LengthResult& latency, const LengthResult& bandwidth,
           const RoundFigures& rounds, const std::string& result_path);

/// Those of one round: of one length those in hpccoutf.txt, of both what is made of them.
enum class Length : char { latency, bandwidth };
std::vector<Figure> figures_of(Length which, const LengthResult& length, int ranks,
                               std::optional<double> rmax_gflops);
/// The figures of one length that --until-ci goes by.
std::vector<std::string> deciding(Length which);
/// A figure's name does not say a unit that its value has not: "MaxPingPongLatency_usec" without
/// its end.
std::string name_of(const std::string& hpcc_name);

/// All that is in its results.
ResultInfo result_info();
/// The benchmark's part of the run line.
Json describe(std::int64_t seed);

}  // namespace effio::rings
