// SPDX-License-Identifier: BSD-3-Clause
// The options of the rings benchmark.
#pragma once

#include <optional>

#include "frame/network_options.hpp"
#include "frame/ring_patterns/ring_schedule.hpp"
#include "frame/until_ci.hpp"

namespace effio::rings {

struct Parameters {
    std::optional<std::int64_t> seed;
    std::optional<double> rmax_gflops;
    Seconds latency_time{latency_schedule.pair_seconds};
    Seconds bandwidth_time{bandwidth_schedule.pair_seconds};
    Seconds ring_time{0};
    std::int64_t rounds = 1;  ///< the most there may be with --until-ci
    UntilCiOptions until_ci;
    NetworkOptions network;

    void declare(OptionTable& table);
    Status check();
    Schedule latency() const;
    Schedule bandwidth() const;
};

}  // namespace effio::rings
