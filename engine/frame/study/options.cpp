// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/options.hpp"

#include <fmt/format.h>

#include "core/pattern.hpp"
#include "core/units.hpp"

namespace effio::study {
namespace {

constexpr std::int64_t largest_peak_block = 16 * MiB;

}  // namespace

void Options::declare_common(OptionTable& table) {
    declare_repetitions(table, "repetitions of everything; the order rotates");
    table.choice("fsync", fsync,
                 {{"inside", Sync::inside}, {"separate", Sync::separate}, {"off", Sync::none}},
                 "flush to storage after writing: counted in the rate (inside), timed apart from "
                 "it (separate), "
                 "or none (off)");
    declare_checks(table);
    storage.declare(table);
}

void Options::declare_repetitions(OptionTable& table, std::string_view help) {
    table.group("Measuring");
    table.add("repetitions", repetitions, help)
        .letter('r')
        .range(1, 1e6)
        .notes(until_ci.most_given);
    until_ci.declare(table);
}

void Options::declare_checks(OptionTable& table) {
    table.choice("reader", reader, {{"same", Readers::same}, {"shifted", Readers::shifted}},
                 "a rank reads what it wrote itself, or what a rank on the next node wrote");
    table.on_off("verify", verify,
                 "compare every byte of the timed reads, after them, as far as --verify-memory "
                 "holds them; the rest by a second read, untimed");
    table
        .add("verify-memory", verify_memory,
             "memory of a rank that keeps the data of timed reads until they are compared; 0: "
             "compare a second read, where the memory of a rank does not hold all its data anyway")
        .range(0, 1e15)
        .expert();
    data.declare(table);
    table
        .add("save-calls", save_calls,
             "every call of every rank as PREFIX-<cell>-<access>-<repetition>-<rank>.csv")
        .metavar("PREFIX")
        .automatic("nothing is kept")
        .expert();
    table
        .add("save-ranks", save_ranks,
             "a line for each rank of each pass: its node, bytes and seconds by part")
        .metavar("FILE.csv")
        .automatic("nothing is kept")
        .expert();
}

void Options::declare_phases(OptionTable& table) {
    table
        .add("phases", phases,
             "accesses to measure; files that are only read must have been kept by a run of the "
             "same options")
        .choices({"write", "read"});
}

void Options::declare_peak(OptionTable& table) {
    table
        .add("peak", peak_text,
             "peak rate of the path, or 'measured': the best rate of 1, 2, 4, ... and all ranks, "
             "each with its own stream: through an empty cache, past the cache, and past the cache "
             "with 8 and with 32 calls in flight; results are also shown as a percentage of the "
             "peak")
        .metavar("RATE|measured")
        .automatic("no comparison");
}

std::int64_t Options::peak_block(std::int64_t bytes) {
    if (bytes <= largest_peak_block) return bytes;
    std::int64_t block = largest_peak_block;
    while (bytes % block != 0) block /= 2;
    return block;
}

void Options::add_peak(Definition& study, const PeakStreams& streams) const {
    Cell cell;
    cell.is_peak = true;
    cell.content = Content::stamped;
    cell.sync = Sync::inside;
    const std::string& backend = storage.backend.name;
    const auto add = [&](const std::string& pattern, const std::string& name, std::int64_t block) {
        cell.pattern = pattern;
        cell.axes = streams.axes(cell.ranks, block);
        cell.file = fmt::format("{}_{}{}", streams.file, cell.ranks, name);
        cell.data = Pieces{[bytes = cell.file_bytes, block](int /*rank*/) {
            return Addresses(0, Strides{block, {{bytes / block, block}}});
        }};
        study.add(cell, phases);
    };
    for (const auto ranks : doubled_up_to(streams.ranks)) {
        cell.ranks = cell.files = static_cast<int>(ranks);
        cell.file_bytes = streams.bytes(ranks);
        cell.past_cache.reset();
        const std::int64_t block = peak_block(cell.file_bytes);
        add("stream", "", block);
        if (is_model(backend)) continue;
        cell.past_cache.emplace();
        if (backend != "direct") add("stream past the cache", "_direct", block);
        for (const int depth : peak_depths) {
            cell.past_cache->in_flight = depth;
            // Smaller calls, so that enough of them can be in flight.
            std::int64_t small = block;
            while (cell.file_bytes / small < std::int64_t{4} * depth &&
                   small % (2 * StampedPattern::page) == 0) {
                small /= 2;
            }
            add(fmt::format("stream, {} in flight", depth), fmt::format("_queue{}", depth), small);
        }
    }
}

std::string Options::verified() const {
    if (!verify) return "nothing";
    if (kept() == 0) return "every byte of a second read, or of timed reads that stay in memory";
    return fmt::format(
        "every byte of the timed reads, up to {} of each rank; the rest by a second read",
        shown_size(verify_memory));
}

Status Options::check_common() {
    peak.reset();
    if (peak_text && !measures_peak()) {
        const auto rate = parse_rate(*peak_text);
        if (!rate || rate->count <= 0) {
            return usage_error("--peak: expected a rate such as 6GB/s, or 'measured'");
        }
        peak = *rate;
    }
    if (auto kept = until_ci.check(repetitions, "--repetitions"); !kept) return kept;
    return storage.check();
}

}  // namespace effio::study
