// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/study/options.hpp"

#include <utility>

namespace effio::study {
namespace {

constexpr std::int64_t largest_peak_block = 16 * MiB;

}  // namespace

void Options::declare_common(OptionTable& table) {
    declare_repetitions(table, "of everything; the order rotates");
    table.choice(
        "fsync", fsync, {{"beside", Sync::beside}, {"inside", Sync::inside}, {"off", Sync::none}},
        "flush to storage after writing: as a part that the rate does not count, inside it, or "
        "not at all");
    declare_checks(table);
    storage.declare(table);
}

void Options::declare_repetitions(OptionTable& table, std::string help) {
    table.group("Measuring");
    table.add("repetitions", repetitions, std::move(help))
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
             "what is done; what is only read must have been kept by a run of "
             "the same options")
        .choices({"write", "read"});
}

void Options::declare_peak(OptionTable& table) {
    table
        .add("peak", peak_text,
             "what the path can do at most, as a rate, or 'measured': streams of the same size "
             "beside, from an empty cache and past it; results are also told in per cent of it, "
             "and what exceeds it is the cache")
        .metavar("RATE|measured")
        .automatic("no comparison");
}

std::int64_t Options::peak_block(std::int64_t bytes) {
    return bytes % largest_peak_block == 0 ? largest_peak_block : bytes;
}

void Options::add_peak(Definition& study, Cell like, std::int64_t bytes,
                       const std::string& file) const {
    const std::int64_t block = peak_block(bytes);
    like.is_peak = true;
    like.content = Content::stamped;
    like.sync = Sync::inside;
    like.file_bytes = bytes;
    like.addresses = [=](int /*rank*/) {
        return Addresses(0, Strides{block, {{bytes / block, block}}});
    };
    const std::string& way = storage.backend.name;
    for (const bool past : {false, true}) {
        if (past && (way == "direct" || is_model(way))) continue;
        like.past_cache = past;
        like.pattern = past ? "stream past the cache" : "stream";
        like.file = file + (past ? "_direct" : "");
        study.add(like, phases);
    }
}

std::string Options::verified() const {
    if (!verify) return "nothing";
    if (kept() == 0) return "every byte of a second read, or of timed reads that stay in memory";
    return fmt::format(
        "every byte of the timed reads, up to {} of each rank; the rest by a second read",
        format_exact(verify_memory));
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
