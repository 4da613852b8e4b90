// SPDX-License-Identifier: BSD-3-Clause
// What the command line says of a job, whatever its benchmark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/options.hpp"
#include "frame/plan.hpp"
#include "parallel/tick_clock.hpp"

namespace effio {

/// What is shown on stderr during a run; `automatic`: what suits there.
enum class Live : char { automatic, line, log, json, none };

/// Options that every benchmark takes.
struct JobOptions {
    std::string result;
    bool quiet = false;
    Live progress = Live::automatic;
    Seconds watchdog{60};
    Seconds agree_deadline{10};
    ClockChoice clock = ClockChoice::automatic;
    bool plan = false;
    bool plan_json = false;
    std::optional<std::int64_t> plan_ranks;
    std::optional<std::int64_t> plan_ranks_per_node;
    BytesPerSecond plan_rate{1e9};
    std::optional<Bytes> plan_memory;
    std::optional<Bytes> plan_free;

    void declare(OptionTable& table);
    /// What --plan-… say, for this number of ranks.
    PlanInput plan_input(std::int64_t ranks) const;
};

/// An option of ours, and what a classic command line has for it.
struct Renamed {
    std::string ours;
    std::string theirs;
};

/// The command line that the run line records and what it was translated from, if it was.
struct Invocation {
    std::vector<std::string> arguments;
    std::vector<std::string> classic;  ///< the classic program's own command line; else empty
    /// What messages name in place of our options.
    std::vector<Renamed> wording;

    /// The text with the words of the command line that the user gave.
    std::string worded(std::string text) const;
};

}  // namespace effio
