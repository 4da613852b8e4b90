// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace effio::mdtest {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void Parameters::declare(OptionTable& table) {
    constexpr double most = 9e15;
    table.group("What there is");
    table
        .add("items", items,
             "files and directories of each rank, distributed over its directories; 0: only the "
             "tree")
        .letter('n')
        .range(0, most)
        .automatic("as --items-per-directory says");
    table
        .add("items-per-directory", per_directory,
             "items of each rank in each directory; with --items, as many test directories are "
             "made as that takes")
        .letter('I')
        .range(1, most)
        .automatic("--items over the directories");
    table.add("branching", branching, "subdirectories of each directory of the tree")
        .letter('b')
        .range(1, 2147483647);
    table.add("depth", depth, "levels of the tree below its root").letter('z').range(0, 2147483647);
    table.flag("leaf-only", leaf_only, "items in the lowest directories only").letter('L');
    table.flag("unique", unique, "each rank has its own tree, else all share one").letter('u');
    table.flag("compare-trees", compare_trees,
               "measure in one tree for all ranks, then in a tree for each rank");
    table.choice("things", things,
                 {{"both", ItemSelection::both},
                  {"files", ItemSelection::files},
                  {"directories", ItemSelection::directories}},
                 "what the phases work on: files, directories, or both alternately");
    table
        .add("name-length", name_length,
             "bytes of each item's name, its number filled up with zeros: long names make large "
             "directories; most file systems take 255")
        .range(0, 4095)
        .automatic("as short as they are");
    table.add("write-bytes", write_bytes, "bytes written into each file, in one call")
        .letter('w')
        .range(0, 1e12);
    table.add("read-bytes", read_bytes, "bytes read from each file; at most --write-bytes")
        .letter('e')
        .range(0, 1e12)
        .automatic("as many as were written");
    table
        .add("populate", populate,
             "files in the (first) directory before the measurement, of all ranks together; with "
             "--unique in each rank's directory")
        .range(0, most);
    table.flag("shared-files", shared_files, "all ranks work on the same files; no directories")
        .letter('S');
    table.add("also-dir", more_directories,
              "further base directories; with --unique, ranks take them round-robin");
    table
        .flag("make-dir", make_directories,
              "make base directories that are missing, and remove them at the end if empty")
        .expert();

    table.group("What is done");
    table
        .add("phases", phases,
             "phases as in mdtest; rename applies to directories. Without create, the phases use "
             "the tree that an earlier run kept")
        .choices(phase_words());
    auto further = further_words();
    further.emplace_back("all");
    table.add("also", also, "further operations on files, the listing of directories, and a search")
        .choices(further);
    table
        .add("find-name", find_name,
             "with --also find: pattern of the names to search for, as in the shell")
        .metavar("PATTERN");
    table.add("find-bytes", find_bytes, "with --also find: size of the files to search for")
        .range(0, 1e12)
        .automatic("of any length");
    table.add("iterations", iterations, "number of repetitions of everything")
        .letter('i')
        .range(1, 1e9)
        .notes(until_ci.most_given);
    until_ci.declare(table);
    table.add("ranks", ranks, "numbers of ranks to measure with, one after the other")
        .range(1, 2147483647)
        .automatic("all");
    table.add("threads", threads, "threads of each rank that share its items").range(1, 4096);
    table
        .add("rank-shift", rank_shift,
             "stat the items of the rank that is this many nodes (on one node: ranks) further on, "
             "read those of the rank at twice that distance, remove those at three times")
        .letter('N')
        .range(0, 1e6);
    table.flag("random-order", random_order, "stat and read in random order").letter('R');
    table.add("seed", seed, "seed of data and random order").range(0, most).expert();
    data.declare(table);
    table.choice("create", create_with, {{"open", CreateWith::open}, {"mknod", CreateWith::mknod}},
                 "files are created by open, or by mknod without opening them");
    table.flag("by-root", by_root, "rank 0 creates and removes the items of all ranks").letter('c');
    table.flag("sync-files", sync_files, "fsync each file that is written").letter('y');
    table.flag("sync-phases", sync_phases,
               "sync the file system at the end of each phase, inside its time");
    table.flag("verify", verify,
               "compare every byte of the timed reads, after them, as far as --verify-memory holds "
               "them; the rest, or all if there is no read phase, by a second read, untimed");
    table
        .add("verify-memory", verify_memory,
             "memory of a rank that keeps the data of timed reads until they are compared; 0: "
             "compare a second read")
        .range(0, 1e15)
        .expert();
    table
        .add("stonewall", stonewall,
             "stop creating files after this long; then all ranks continue to the count of the "
             "fastest")
        .letter('W')
        .range(0, 1e9);
    table
        .add("stonewall-file", stonewall_file,
             "file for that count; a run that does not create reads it")
        .metavar("FILE")
        .automatic("none");
    table.flag("no-barriers", no_barriers, "ranks do not wait for each other between phases")
        .expert();
    table
        .flag("time-entry", time_entry,
              "with --unique: the time includes the first lookup of the rank's directory")
        .letter('t')
        .expert();
    table.add("delay", delay, "pause before the phases of directories and of files")
        .range(0, 1e6)
        .expert();
    table
        .on_off("count", count,
                "count what is on disk before and after the removal, untimed, and compare")
        .expert();
    table
        .add("run-before-phase", before_phase,
             "each rank runs this in the shell before each phase, untimed; the command finds the "
             "phase in EFFIO_PHASE (file-create, ...)")
        .metavar("CMD")
        .automatic("nothing")
        .expert();
    table
        .add("run-after-phase", after_phase,
             "each rank runs this in the shell after each phase, inside its time; for example a "
             "command that makes its work durable")
        .metavar("CMD")
        .automatic("nothing")
        .expert();
    table.flag("rank-details", rank_details, "record operations and times of every rank").expert();
    table
        .add("save-rank-details", save_rank_details,
             "a CSV file with a line for each rank, iteration and phase: operations, seconds, "
             "rates; written anew")
        .metavar("FILE")
        .automatic("no")
        .expert();
    table
        .add("save-calls", save_calls,
             "each rank writes start and length of every call to PREFIX-<thing>-<operation>-"
             "<iteration>-<rank>.csv (16 bytes of memory a call)")
        .metavar("PREFIX")
        .automatic("no")
        .expert();
    storage.declare(table);
}

bool Parameters::has(std::string_view word) const {
    return contains(phases, word) || contains(also, word) ||
           (contains(also, "all") && contains(further_words(), word));
}

std::vector<std::string> Parameters::bases() const {
    std::vector<std::string> all{storage.directory};
    all.insert(all.end(), more_directories.begin(), more_directories.end());
    return all;
}

bool Parameters::runs(const Phase& phase) const {
    if (phase.action == Action::populate) return populate > 0 && has("create");
    if (phase.action == Action::depopulate) return populate > 0 && has("remove");
    if (!has(phase.word)) return false;
    if (phase.thing == ItemKind::directory) return things != ItemSelection::files;
    if (phase.thing == ItemKind::tree || phase.action == Action::list) return true;
    return things != ItemSelection::directories;
}

Workload::Request Parameters::wish() const {
    return {{branching, depth}, leaf_only, unique, items, per_directory};
}

Workload Parameters::workload() const {
    return *Workload::of(wish());
}

static bool is_blank(const std::optional<std::string>& command) {
    return command && command->find_first_not_of(" \t\n") == std::string::npos;
}

Status Parameters::check_combinations() const {
    return check_rules({
        {bytes_to_read() > write_bytes.count && has("create"),
         "--read-bytes: more than --write-bytes"},
        {create_with == CreateWith::mknod && write_bytes.count > 0,
         "--create=mknod: opens no file, so --write-bytes has nothing to write to"},
        {create_with == CreateWith::mknod && (sync_files || shared_files),
         "--create=mknod: opens no file, and fails where another rank was first"},
        {!unique && !more_directories.empty(),
         "--also-dir: several base directories need --unique"},
        {compare_trees && (unique || shared_files || !(has("create") && has("remove"))),
         "--compare-trees: makes and removes trees of both kinds itself (not with "
         "--unique or --shared-files; needs create and remove in --phases)"},
        {compare_trees && items && per_directory,
         "--compare-trees: not with both --items and --items-per-directory"},
        {time_entry && !unique, "--time-entry: only with --unique"},
        {find_name.empty(), "--find-name: no pattern is given"},
        {no_barriers && !unique && has("find"),
         "--no-barriers: a search in a shared tree meets what others make; give --unique"},
        {shared_files && things != ItemSelection::files, "--shared-files: needs --things=files"},
        {shared_files && !also.empty(), "--shared-files: not with --also"},
        {shared_files && (unique || by_root), "--shared-files: not with --unique or --by-root"},
        {no_barriers && (shared_files || by_root || rank_shift > 0 || populate > 0),
         "--no-barriers: ranks would look for items that others have not made yet "
         "(--shared-files, --by-root, --rank-shift, --populate)"},
        {no_barriers && !unique && has("remove"),
         "--no-barriers: a shared tree cannot be removed while others work in it; "
         "give --unique"},
        {stonewall.count > 0 && (branching > 1 || things == ItemSelection::directories || by_root),
         "--stonewall: bounds the creation of files, by all ranks, with --branching=1"},
        {stonewall.count > 0 && !has("create"),
         "--stonewall: bounds the creation of files, which is not among --phases"},
        {until_ci.on() && !(has("create") && has("remove")),
         "--until-ci: how many trees there will be is not known before, so that each must be "
         "made and removed; needs create and remove in --phases"},
        {ranks.size() > 1 && has("remove") && !has("create"),
         "--ranks: with several numbers remove needs create in --phases, or the first one "
         "would remove what the next ones look for"},
        {is_blank(before_phase), "--run-before-phase: no command is given"},
        {is_blank(after_phase), "--run-after-phase: no command is given"},
        {no_barriers && runs_commands(),
         "--no-barriers: not with --run-before-phase or --run-after-phase, after which all "
         "ranks agree whether to continue"},
        {save_rank_details && save_rank_details->empty(), "--save-rank-details: no file is given"},
        {save_calls && (ranks.size() > 1 || compare_trees || !storage.times_calls()),
         "--save-calls: one set of files (not with several --ranks or --compare-trees), of "
         "calls that are timed (not with --call-times=off)"},
        {verify && write_bytes.count == 0 && bytes_to_read() == 0,
         "--verify: there are no bytes to compare; give --write-bytes"},
    });
}

Status Parameters::check() {
    if (auto met = storage.check(); !met) return met;
    if (auto kept = until_ci.check(iterations, "--iterations"); !kept) return kept;
    if (adopts() && !has("remove")) storage.keep = true;
    auto work = Workload::of(wish());
    if (!work) return std::move(work.error());
    if (threads > std::max<std::int64_t>(work->per_directory, 1)) {
        return usage_error(fmt::format("--threads: {} is more than the {} in each directory",
                                       threads, count_of(work->per_directory, "item")));
    }
    const auto all = bases();
    if (std::set<std::string>(all.begin(), all.end()).size() != all.size()) {
        return usage_error("--also-dir: the same directory twice");
    }
    return check_combinations();
}

}  // namespace effio::mdtest
