// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/parameters.hpp"

#include <algorithm>

#include "benchmarks/b_eff/definition.hpp"

namespace effio::b_eff {
namespace {

// What --quick is: the original's build switch SHORT.
constexpr int quick_repetitions = 2;
constexpr int quick_random_patterns = 6;
constexpr double quick_loop_seconds = 0.05;

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table
        .add("memory-per-rank", memory_per_rank,
             "memory that one rank's share of the machine has; the longest message is 1/128 of it")
        .range(static_cast<double>(MiB), 9e18)
        .automatic("detected: memory of the node over the ranks on it");
    table.flag("quick", quick,
               "a tenth of the time: 2 repetitions, 6 random rings, 0.05 s for each size and "
               "method; more spread, NOT VALID officially");
    table
        .add("repetitions", repetitions_asked,
             "repetitions of the whole series; the best one counts")
        .range(1, 1000)
        .automatic("3; 2 if quick");
    table.add("random-patterns", random_asked, "number of rings of all ranks in random order")
        .range(1, 10000)
        .automatic("30; 6 if quick");
    table
        .add("loop-time", loop_time_asked,
             "time that all patterns together should take for one size and method")
        .range(1e-6, 1e6)
        .automatic("0.5s; 0.05s if quick");
    table
        .add("seed", seed,
             "seed of the random rings (srand48); the same seed and number of ranks give the same "
             "rings")
        .range(0, 4294967295.0)
        .automatic("the time of day, recorded in the result");
    table.choice("methods", methods,
                 {{option_name(Method::sendrecv), Method::sendrecv},
                  {option_name(Method::alltoallv), Method::alltoallv},
                  {option_name(Method::nonblocking), Method::nonblocking}},
                 "methods of exchanging messages");
    table.choice("patterns", additional, {{"all", true}, {"counting", false}},
                 "all, or only the rings and random rings that count, without the 13 that are only "
                 "reported");
    table
        .add("shorten-after", shorten_after,
             "measure the two longest sizes with the best method only when they are expected to "
             "take longer than this with one method; 0 = never")
        .range(0, 1e9)
        .expert();
    table.group("Beyond the definition");
    until_ci.declare_rounds(
        table, rounds,
        "number of rounds; values are means over the rounds, with intervals, and NOT VALID "
        "officially");
    table.flag("call-times", call_times,
               "afterwards, in a separate pass, time every MPI_Sendrecv of the rings and random "
               "rings, within nodes and between nodes apart");
    table.choice(
        "pairs", pairs, {{"none", Pairs::none}, {"sampled", Pairs::sampled}, {"all", Pairs::all}},
        "afterwards measure latency and bandwidth of pairs of ranks, one pair at a time: every "
        "pair, or a sample in which each rank appears equally often");
    table.add("pairs-size", pairs_bytes, "message for the bandwidth of pairs")
        .range(1, static_cast<double>(GiB));
    table.add("pairs-limit", pairs_limit, "most pairs in a sample; each rank appears at least once")
        .range(1, 1e9);
    network.declare(table);
}

Status Parameters::check() {
    std::sort(methods.begin(), methods.end());
    if (std::adjacent_find(methods.begin(), methods.end()) != methods.end()) {
        return usage_error("--methods: a method is named twice");
    }
    if (auto known = until_ci.check(rounds, "--rounds"); !known) return known;
    return network.check();
}

int Parameters::repetitions() const {
    return static_cast<int>(
        repetitions_asked.value_or(quick ? quick_repetitions : official_repetitions));
}

int Parameters::random_patterns() const {
    return static_cast<int>(
        random_asked.value_or(quick ? quick_random_patterns : official_random_patterns));
}

double Parameters::loop_seconds() const {
    if (loop_time_asked) return loop_time_asked->count;
    return quick ? quick_loop_seconds : official_loop_seconds;
}

bool Parameters::uses(Method method) const {
    return std::find(methods.begin(), methods.end(), method) != methods.end();
}

const char* option_name(Method method) {
    switch (method) {
        case Method::sendrecv:
            return "sendrecv";
        case Method::alltoallv:
            return "alltoallv";
        case Method::nonblocking:
            return "nonblocking";
    }
    return "";
}

}  // namespace effio::b_eff
