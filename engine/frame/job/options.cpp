// SPDX-License-Identifier: BSD-3-Clause
#include "frame/job/options.hpp"

#include <algorithm>
#include <cctype>

namespace effio {

std::string Invocation::worded(std::string text) const {
    for (const auto& [ours, theirs] : wording) {
        for (std::size_t at = 0; (at = text.find(ours, at)) != std::string::npos;) {
            const std::size_t end = at + ours.size();
            const char next = end < text.size() ? text[end] : ' ';
            if (next == '-' || std::isalnum(static_cast<unsigned char>(next)) != 0) {
                at = end;  // the start of another option's name
                continue;
            }
            text.replace(at, ours.size(), theirs);
            at += theirs.size();
        }
    }
    return text;
}

void JobOptions::declare(OptionTable& table) {
    table.group("Run");
    table
        .add("result", result,
             "result file, or directory for it; an existing file is never overwritten")
        .letter('o')
        .metavar("PATH")
        .automatic("effio-<benchmark>-<UTC>.jsonl here");
    table.flag("quiet", quiet, "no tables and no progress, only errors");
    table.choice("progress", progress,
                 {{"auto", Live::automatic},
                  {"line", Live::line},
                  {"log", Live::log},
                  {"json", Live::json},
                  {"none", Live::none}},
                 "live view on stderr: a line that changes, lines in a log, or JSON for programs");
    table
        .add("watchdog", watchdog,
             "end the job after this long without progress, beyond what slow storage may need; 0 = "
             "never")
        .range(0, 1e9);
    table
        .add("agree-deadline", agree_deadline,
             "how long a rank that saw an error waits for the others before it ends the job")
        .range(0.1, 1e6)
        .expert();
    table
        .choice("clock", clock,
                {{"auto", ClockChoice::automatic}, {"monotonic", ClockChoice::monotonic}},
                "the processor's time stamp counter if it is reliable on all nodes (auto), "
                "or always CLOCK_MONOTONIC (monotonic)")
        .expert();
    table.group("Plan");
    table.flag("plan", plan, "print what would be done, and do nothing");
    table.flag("plan-json", plan_json, "the same as JSON");
    table.add("plan-ranks", plan_ranks, "ranks to plan for")
        .range(1, 2147483647)
        .automatic("as launched");
    table.add("plan-ranks-per-node", plan_ranks_per_node, "ranks on a node to plan for")
        .range(1, 2147483647)
        .automatic("all");
    table
        .add("plan-rate", plan_rate,
             "rate that storage is assumed to deliver in all, or the network to each rank")
        .range(1, 1e18);
    table.add("plan-memory", plan_memory, "memory of a node to plan for")
        .range(1, 9e18)
        .automatic("as on this machine");
    table.add("plan-free", plan_free, "free bytes on storage to plan for")
        .range(1, 9e18)
        .automatic("as in the directory on this machine");
}

PlanInput JobOptions::plan_input(std::int64_t ranks) const {
    const auto bytes = [](const std::optional<Bytes>& given) {
        return given ? std::optional(static_cast<double>(given->count)) : std::nullopt;
    };
    PlanInput input;
    input.ranks = static_cast<int>(ranks);
    input.ranks_per_node = static_cast<int>(std::min(plan_ranks_per_node.value_or(ranks), ranks));
    input.rate = plan_rate.count;
    input.memory_bytes = bytes(plan_memory);
    input.free_bytes = bytes(plan_free);
    return input;
}

}  // namespace effio
