// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/parameters.hpp"

#include <fmt/format.h>

namespace effio::b_eff_io {
namespace {

constexpr Seconds quick_look_time{60};

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table
        .add("time", scheduled,
             "scheduled time for all partitions together; official: 30min for each partition, and "
             "--drop-cache is off then")
        .letter('T')
        .range(0, 1e9)
        .automatic("a quick check of 60s that drops caches between accesses: NOT VALID");
    table
        .add("partitions", partitions,
             "numbers of ranks to measure with; a number may be given more than once")
        .letter('N')
        .range(1, 2147483647)
        .automatic("three sizes up to all ranks");
    table
        .add("memory-per-rank", memory_per_rank,
             "memory that one rank's share of the machine has; the largest chunk is 1/128 of it")
        .range(static_cast<double>(MiB), 9e18)
        .automatic("detected: memory of the node over the ranks on it");
    table
        .add("total-memory", total_memory,
             "memory of the whole system, for the amount of data in percent and the balance")
        .range(static_cast<double>(MiB), 9e18)
        .automatic("detected: memory of the nodes in use");
    table.flag("rewrite", rewrite, "rewrite with all five pattern types, not only with scatter");
    table.flag("no-shared-pointer", no_shared_pointer,
               "replace the shared file pointer by individual pointers; the result is NOT VALID");
    table.flag("no-unique-open", no_unique_open, "open without MPI_MODE_UNIQUE_OPEN").expert();
    table
        .flag(
            "adapt", adapt,
            "shorten rows when earlier ones took too long; for debugging, the result is NOT VALID")
        .expert();
    table
        .add("messages", max_messages,
             "messages about failed calls and wrong data per row and rank")
        .range(1, 1e9)
        .expert();
    table.choice(
        "verify", verify_all, {{"none", false}, {"full", true}},
        "full: compare every byte of the timed reads, inside the measured time as the marks "
        "are; what is rewritten is read back before, untimed. none: the first and last "
        "eight bytes of each chunk");
    table
        .choice("fill", fill,
                {{"definition", Buffers::Fill::definition}, {"random", Buffers::Fill::random}},
                "what the buffers hold: the definition's numbers, or random data that differ "
                "between ranks (calls of a rank repeat them, apart from their marks)")
        .expert();
    data.declare(table);
    memory.declare(table);
    until_ci.declare_rounds(
        table, rounds,
        "split the time into this many runs of the whole benchmark; values are over all of them, "
        "with intervals, and NOT VALID; with --until-ci this is the maximum (default 30)");
    storage.declare(table);
}

Status Parameters::check() {
    if (partitions.size() > 100) {
        return usage_error(
            fmt::format("--partitions: {} sizes are given; 100 are allowed", partitions.size()));
    }
    quick_look = !scheduled.has_value();
    if (quick_look) {
        if (!storage.cache.drop_given) storage.cache.drop = true;
        scheduled = quick_look_time;
    }
    time = *scheduled;
    if (auto known = until_ci.check(rounds, "--rounds", rounds_of_until_ci); !known) return known;
    if (!data.shape().is_plain() && fill != Buffers::Fill::random) {
        return usage_error("--compressible and --duplicate shape random data: use --fill random");
    }
    if (auto known = memory.check(sizeof(double)); !known) return known;
    if (adapt && rounds > 1) return usage_error("--adapt: not with several --rounds");
    if (auto known = storage.check(); !known) return known;
    // A chunk of 1 KiB + 8 bytes is not a multiple of any block.
    if (storage.backend.name == "direct" && !storage.backend.direct.buffers_unaligned) {
        return usage_error(
            "--backend direct refuses chunks that are not a multiple of the device's block, which "
            "the "
            "definition has (1 KiB, 1 KiB+8, ...): use --drop-cache to read from storage, or "
            "--backend-options unaligned=buffered");
    }
    return {};
}

}  // namespace effio::b_eff_io
