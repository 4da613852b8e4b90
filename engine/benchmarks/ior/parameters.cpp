// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/pattern.hpp"

namespace effio::ior {
namespace {

constexpr double most = 9e18;

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Workload");
    table
        .add("phases", phases,
             "phases of each repetition: write, mixed (reads and writes of existing files), read")
        .metavar("PHASE");
    table
        .add("mix-read", mix_read,
             "percentage of reads among the transfers of the phase mixed; the others write. Adds "
             "that phase")
        .range(0, 100)
        .automatic("50");
    table
        .add("transfer", transfers,
             "bytes of one call; several sizes are measured one after the other")
        .letter('t')
        .range(1, most);
    table.add("block", block, "consecutive bytes of a worker in a segment")
        .letter('b')
        .range(1, most);
    table
        .add("segments", segments,
             "segments of a file, each with one block of every worker that shares it: many small "
             "blocks make a strided file; 0 = files are only created, opened and closed")
        .letter('s')
        .range(0, 1e15)
        .notes(segments_given);
    table
        .add("times-memory", times_memory,
             "instead of --segments: move this many times the memory of each node; reads of 1.5 "
             "times the memory cannot all come from the page cache")
        .metavar("X")
        .range(1e-3, 1000)
        .automatic("--segments says how many");
    table
        .choice("files", files, {{"shared", Files::shared}, {"per-process", Files::per_process}},
                "one file for all ranks or one for each")
        .letter('f');
    table.choice(
        "order", order,
        {{"sequential", Order::sequential},
         {"shuffled", Order::shuffled},
         {"random", Order::random}},
        "order of the transfers: as in the file; each once in random order; or random blocks of "
        "what exists, with repeats");
    table.add("order-seed", order_seed, "seed of the random orders").range(0, most).expert();
    table.add("repetitions", repetitions, "number of repetitions of all phases")
        .letter('i')
        .range(1, 1e9)
        .notes(until_ci.most_given);
    table.flag("file-each-repetition", file_each_repetition, "new files for every repetition");
    table.add("name", stem, "name of the shared file, and start of the other files' names")
        .metavar("NAME");
    table
        .add("more-dirs", more_dirs,
             "further directories: files of the processes go to all of them round-robin")
        .metavar("DIR");
    table.flag("rank-dirs", rank_dirs, "files of the processes: each in its own directory");
    table.add("ranks", ranks, "how many ranks take part").range(1, 2147483647).automatic("all");
    table
        .add("threads", threads,
             "workers of a rank; each has its share of the file or its own file")
        .range(1, 4096);

    table.group("Calls");
    table.flag("collective", collective, "all ranks make each call together");
    table.choice(
        "placement", placement,
        {{"offset", Placement::offset}, {"view", Placement::view}, {"strided", Placement::strided}},
        "by an offset in each call, by a view of the worker's blocks, or all its blocks in "
        "one call through that view");
    table
        .add("queue-depth", queue_depth,
             "transfers that each worker has under way at the same time; more than 1 needs "
             "--backend mpiio (MPI_File_iwrite_at, iread_at) or uring")
        .range(1, 4096);
    memory.declare(table);
    table.flag(
        "trial", trial,
        "with --collective and --queue-depth: a short run that shows whether the MPI library "
        "can do this at all; it names what --tried then needs");
    table
        .add("tried", tried,
             "the MPI library that a --trial found to work; `effio run` makes the trial by itself")
        .metavar("WORD")
        .automatic("none");
    table.flag("preallocate", preallocate, "reserve the whole file before writing (timed as open)");
    striping.declare(table);
    table.choice("sync", sync,
                 {{"none", SyncWhen::never}, {"end", SyncWhen::end}, {"each", SyncWhen::each}},
                 "when writing: flush to storage before the close, after each call");
    table.flag("barriers", barriers, "the ranks wait for each other between open, calls and close");
    table.choice("read-from", read_from,
                 {{"same", Partner::same},
                  {"shifted", Partner::shifted},
                  {"random", Partner::random},
                  {"shuffled", Partner::shuffled}},
                 "whose data a rank reads: its own, or those of a rank some nodes further on, on "
                 "another random node, or anywhere");
    table.add("distance", distance, "nodes between reader and writer").range(1, 2147483647);
    table
        .add("ranks-per-node", ranks_per_node,
             "choose the reader's partner as if this many ranks were on each node, to try "
             "--read-from on one node; nothing else changes")
        .range(1, 2147483647)
        .automatic("as they are")
        .expert();
    table.add("partner-seed", partner_seed, "seed of the random readers").range(0, most).expert();
    table.add("delay", delay, "pause before each phase").range(0, 1e6);
    table.add("think-time", think_time, "pause after each call").range(0, 1e6).expert();
    table
        .add("rate-limit", rate_limit,
             "all workers together move no more than this, each its share at a steady pace")
        .range(1, 1e15)
        .automatic("none");
    table
        .add("hold-memory", hold_memory,
             "memory of each node that is kept from the page cache during the run")
        .range(0, most)
        .automatic("none");

    table.add("hint", hints, "hints to MPI-IO, for all files").metavar("KEY=VALUE");

    table.group("Until when");
    table
        .add("stonewall", stonewall,
             "each worker stops after this time (collective calls: all at the same call); 0 = all "
             "is written and read")
        .range(0, 1e9);
    table.flag("wear-out", wear_out,
               "after the stonewall continue until all have done as much as the fastest");
    table
        .add("wear-out-limit", wear_out_limit,
             "with --wear-out: end the phase after this time in all; 0 = no limit")
        .range(0, 1e9);
    table.add("min-time", min_time, "start the transfers over until this time is over")
        .range(0, 1e9);
    table.add("max-transfers", max_transfers, "most calls of a worker; 0 = all").range(0, most);
    table.flag("steady", steady,
               "stop when the rate of all ranks is steady: over the last slices it ranges within "
               "20 % and its trend stays within 10 % of the mean (see --steady-…)");
    table.add("steady-window", steady_window, "slices that are judged together").range(3, 1000);
    table
        .add("steady-tolerance", steady_tolerance,
             "change of the trend; the range may be twice that")
        .range(0.001, 1);
    table.add("steady-slice", steady_slice, "time of one slice").range(0.01, 3600);
    table
        .add("count-file", count_file,
             "file for the number of calls of the busiest worker: a run that writes stores it, a "
             "run that only reads makes as many calls")
        .metavar("FILE")
        .automatic("none");
    until_ci.declare(table);
    table.add("time-limit", time_limit, "start no phase after this time of the run; 0 = no limit")
        .range(0, 1e9);

    table.group("Data");
    table.choice(
        "data", data,
        {{"stamped", DataKind::stamped},
         {"timestamp", DataKind::timestamp},
         {"offset", DataKind::offset}},
        "contents of the files: bytes that depend on file and place and neither compress nor "
        "repeat, or those of IOR (timestamp does not detect blocks that changed places)");
    table.add("seed", seed, "seed of the data; needed to verify the files of an earlier run")
        .range(0, most)
        .automatic("a new one for each repetition");
    shape.declare(table);
    table
        .add("verify", verify,
             "compare every byte: after a phase in a separate pass, or inside the timed reads: "
             "write, mixed, read, inside")
        .metavar("WHEN")
        .automatic("never");
    table.flag("use-existing", use_existing,
               "write into files that exist (they are never removed)");
    table.flag("keep-on-errors", keep_on_errors, "keep the files if their data are wrong");
    table.flag("stop-on-errors", stop_on_errors, "end the run after a phase with wrong data");
    table.group("Details");
    table.flag("slowest", slowest, "name the slowest ranks of each phase");
    table.flag("rank-details", rank_details, "record bytes and times of every rank");
    table
        .add("save-rank-details", save_rank_details,
             "a CSV file with a line for each rank and phase, in IOR's columns: seconds and B/s "
             "with "
             "and without open and close; written anew")
        .metavar("FILE")
        .automatic("no");
    table
        .add("save-calls", save_calls,
             "each rank writes start and length of every call to PREFIX-<access>-<repetition>-"
             "<rank>.csv, with the transfer size behind the access if there are several (16 bytes "
             "of "
             "memory a call)")
        .metavar("PREFIX")
        .automatic("no");
    storage.declare(table);
}

bool Parameters::has_phase(std::string_view phase) const {
    return std::find(phases.begin(), phases.end(), phase) != phases.end();
}

bool Parameters::verifies(std::string_view when) const {
    return std::find(verify.begin(), verify.end(), when) != verify.end();
}

Status Parameters::fill_memory(double memory_bytes, std::int64_t workers) {
    const double each = static_cast<double>(block.count) * static_cast<double>(workers);
    const double wanted = std::max(std::ceil(*times_memory * memory_bytes / each), 1.0);
    if (wanted * static_cast<double>(block.count) > most) {
        return usage_error(
            fmt::format("--times-memory {}: more than a file can hold", *times_memory));
    }
    segments = static_cast<std::int64_t>(wanted);
    return {};
}

Status Parameters::check_sizes() const {
    if (times_memory && segments_given) {
        return usage_error("--times-memory and --segments exclude each other");
    }
    for (const Bytes transfer : transfers) {
        Status of_transfer = check_rules({
            {transfer > block, fmt::format("--transfer {} is more than --block {}",
                                           format_exact(transfer), format_exact(block))},
            {block.count % transfer.count != 0,
             fmt::format("--block {} is not a multiple of --transfer {}; {} would be",
                         format_exact(block), format_exact(transfer),
                         format_exact(Bytes{block.count / transfer.count * transfer.count}))},
        });
        if (!of_transfer) return of_transfer;
    }
    // The offsets of one worker; of all ranks it is checked when their number is known.
    if (segments > static_cast<std::int64_t>(most) / block.count) {
        return usage_error(fmt::format("--segments {} of --block {} are more than a file can hold",
                                       segments, format_exact(block)));
    }
    return {};
}

Mix Parameters::mix() const {
    return {mix_read.value_or(50) / 100, mix64(static_cast<std::uint64_t>(order_seed))};
}

Status Parameters::check_phases() {
    for (const auto& phase : phases) {
        if (phase == "write" || phase == "mixed" || phase == "read") continue;
        return usage_error(fmt::format("--phases: '{}' is not one of write, mixed, read", phase));
    }
    const auto different = std::count_if(phases_in_order.begin(), phases_in_order.end(),
                                         [this](Access access) { return does(access); });
    if (phases.size() > static_cast<std::size_t>(different)) {
        return usage_error("--phases: a phase is named twice");
    }
    if (mix_read && !mixes()) phases.emplace_back(name(Access::mixed));
    if (auto good = check_mix(); !good) return good;
    return check_rules({
        {stem.empty() || stem.find('/') != std::string::npos,
         fmt::format("--name '{}' must be a name without '/'; --dir is the directory", stem)},
        {(!more_dirs.empty() || rank_dirs) && files == Files::shared,
         "--more-dirs and --rank-dirs need --files per-process"},
    });
}

Status Parameters::check_mix() const {
    if (!mixes()) return {};
    return check_rules({
        {!writes() && !use_existing,
         "--phases mixed writes into files that are there: have them written by the phase "
         "write, or allow it with --use-existing"},
        {segments == 0, "--phases mixed: files of --segments 0 hold nothing to be read"},
        {placement == Placement::strided,
         "--phases mixed: --placement strided makes one call, which cannot mix"},
    });
}

Status Parameters::check_modes() const {
    const bool ordered = order == Order::sequential;
    const bool viewed = placement != Placement::offset;
    Status rules = check_rules({
        {save_rank_details && save_rank_details->empty(), "--save-rank-details: no file is given"},
        {save_rank_details && transfers.size() > 1,
         "--save-rank-details: IOR's columns have no --transfer; give one"},
        {!ordered && viewed, "--order: random orders need --placement offset"},
        {placement == Placement::strided && transfers.size() > 1,
         "--placement strided: all blocks are one transfer; give one --transfer"},
        {placement == Placement::strided && (min_time.count > 0 || max_transfers > 0),
         "--placement strided: there is one call, which neither --min-time nor --max-transfers "
         "can divide"},
        {threads > 1 && (collective || viewed),
         "--threads: collective calls and views belong to whole ranks"},
    });
    if (!rules) return rules;
    if (auto good = check_queue(); !good) return good;
    if (auto good = check_memory(); !good) return good;
    for (const auto& when : verify) {
        if (when != "write" && when != "mixed" && when != "read" && when != "inside") {
            return usage_error(
                fmt::format("--verify: '{}' is not one of write, mixed, read, inside", when));
        }
    }
    return check_rules({
        {!verify.empty() && !writes() && !seed,
         "--verify: files of an earlier run need the --seed that it was given (or names in its "
         "result)"},
        {data != DataKind::stamped && !shape.shape().is_plain(),
         "--compressible and --duplicate need --data stamped"},
        {data != DataKind::stamped && seed.value_or(0) > 2147483647,
         "--seed: IOR's data take at most 2147483647"},
    });
}

Status Parameters::check_striping() const {
    if (!striping.given()) return {};
    const std::string& backend = storage.backend.name;
    if (backend == "posix" || backend == "direct" || backend == "uring" || backend == "mmap") {
        return {};
    }
    return usage_error(
        fmt::format("--stripe-count and its like make files for posix, direct, uring and mmap, not "
                    "for --backend {}; MPI-IO takes --hint striping_factor=N",
                    backend));
}

Status Parameters::check_queue() const {
    const bool together = queue_depth > 1 && collective;
    Status rules = check_rules({
        {(trial || tried) && !together,
         "--trial and --tried are of calls that are both --collective and queued (--queue-depth "
         "2 or more)"},
        {trial && tried, "--tried: a --trial is to find that out"},
    });
    if (!rules) return rules;
    if (queue_depth <= 1) return {};
    Status of_queue = check_rules({
        {placement != Placement::offset,
         "--queue-depth: transfers that are under way together are at offsets: not with "
         "--placement view or strided"},
        {sync == SyncWhen::each || think_time.count > 0 || save_calls,
         "--queue-depth cannot be combined with --sync each, --think-time or --save-calls, "
         "which concern single transfers"},
    });
    if (!of_queue) return of_queue;
    if (!together) return {};
    if (rate_limit) {
        return usage_error(
            "--rate-limit: collective calls that are queued (--queue-depth) cannot be held back, "
            "each rank by its own clock");
    }
    if (trial || tried) return {};
    return usage_error(
        "--collective with --queue-depth: some MPI libraries crash in nonblocking collective calls "
        "(MPI_File_iwrite_at_all), or move wrong data, so they are tried before, in a short job of "
        "its own: run the same with --trial, and give what it names to --tried; `effio run ior` "
        "does both");
}

Status Parameters::check_memory() const {
    if (auto good = memory.check(1); !good) return good;
    if (!memory.given()) return {};
    if (queue_depth > 1) {
        return usage_error(
            "--memory-piece: transfers that are queued (--queue-depth) have one "
            "piece of memory each");
    }
    const Bytes smallest = *std::min_element(transfers.begin(), transfers.end());
    if (memory.pieces().piece < smallest.count || placement == Placement::strided) return {};
    return usage_error(fmt::format("--memory-piece {} is not less than --transfer {}",
                                   format_exact(Bytes{memory.pieces().piece}),
                                   format_exact(smallest)));
}

/// The same calls, a few of them, every byte checked.
void Parameters::cut_to_trial() {
    constexpr std::int64_t rounds = 4;  // of the whole queue
    phases = {"write", "read"};
    if (mix_read) phases.emplace_back(name(Access::mixed));
    transfers.resize(1);
    block = {std::min(block.count, rounds * queue_depth * transfers.front().count)};
    segments = std::min<std::int64_t>(segments, 2);
    times_memory.reset();
    verify = {"write", "read"};
    repetitions = 1;
    until_ci = {};
    stonewall = min_time = time_limit = delay = Seconds{0};
    wear_out = steady = use_existing = preallocate = false;
    max_transfers = 0;
    count_file.reset();
    storage.keep = false;
    stem += ".trial";
}

Status Parameters::check_limits() {
    if (hold_memory && storage.cache.memory_left) {
        return usage_error(
            "--hold-memory says what is taken, --memory-hog what is left; give one of them");
    }
    if (auto kept = until_ci.check(repetitions, "--repetitions"); !kept) return kept;
    return check_rules({
        {until_ci.on() && segments == 0,
         "--until-ci: files of --segments 0 hold nothing that has a rate"},
        {wear_out && stonewall.count <= 0, "--wear-out needs --stonewall"},
        {wear_out_limit.count > 0 && wear_out_limit <= stonewall,
         "--wear-out-limit must be longer than --stonewall"},
        {wear_out_limit.count > 0 && !wear_out, "--wear-out-limit needs --wear-out"},
        {rate_limit && segments == 0,
         "--rate-limit: files of --segments 0 hold nothing that has a rate"},
        {steady && wear_out, "--steady: a rate that is steady needs no --wear-out"},
        {stonewall.count > 0 && min_time > stonewall, "--min-time is longer than --stonewall"},
    });
}

Status Parameters::check_hints() const {
    for (const auto& hint : hints) {
        const auto equals = hint.find('=');
        if (equals == std::string::npos || equals == 0) {
            return usage_error(fmt::format("--hint: '{}' is not KEY=VALUE", hint));
        }
    }
    return {};
}

Status Parameters::check() {
    if (auto good = check_phases(); !good) return good;
    if (auto good = check_sizes(); !good) return good;
    if (auto good = check_modes(); !good) return good;
    if (auto good = check_striping(); !good) return good;
    if (auto good = check_limits(); !good) return good;
    if (auto good = check_hints(); !good) return good;
    if (trial) cut_to_trial();
    return storage.check();
}

}  // namespace effio::ior
