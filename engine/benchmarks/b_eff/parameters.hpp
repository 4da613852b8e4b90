// SPDX-License-Identifier: BSD-3-Clause
// The options of b_eff.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "frame/network_options.hpp"
#include "frame/until_ci.hpp"
#include "parallel/exchange.hpp"

namespace effio::b_eff {

/// Which pairs of ranks are measured one by one.
enum class Pairs : char { none, sampled, all };

struct Parameters {
    std::optional<Bytes> memory_per_rank;
    std::optional<std::int64_t> repetitions_asked;
    std::optional<std::int64_t> random_asked;
    std::optional<Seconds> loop_time_asked;
    std::optional<std::int64_t> seed;
    std::vector<Method> methods{Method::sendrecv, Method::alltoallv, Method::nonblocking};
    bool additional = true;     ///< the patterns that are only reported, too
    Seconds shorten_after{60};  ///< the longest sizes, if their expected time is above; 0 = never
    bool quick = false;
    bool call_times = false;
    Pairs pairs = Pairs::none;
    Bytes pairs_bytes{1 << 20};
    std::int64_t pairs_limit = 2016;
    std::int64_t rounds = 1;  ///< the most there may be with --until-ci
    UntilCiOptions until_ci;
    NetworkOptions network;

    void declare(OptionTable& table);
    Status check();

    int repetitions() const;
    int random_patterns() const;
    double loop_seconds() const;
    bool uses(Method method) const;
};

/// As on the command line: "sendrecv".
const char* option_name(Method method);

}  // namespace effio::b_eff
