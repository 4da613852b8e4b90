// SPDX-License-Identifier: BSD-3-Clause
#include "classic/ior_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <sstream>
#include <variant>

#include "classic/classic.hpp"
#include "core/units.hpp"
#include "core/whole.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

enum class Kind : char { flag, integer, size, real, text };

/// One option: its letter (or 0), its directive, its further names, and what it is for.
struct Row {
    char letter;
    const char* directive;
    Kind kind;
    std::variant<std::int64_t IorOptions::*, double IorOptions::*, std::string IorOptions::*>
        target;
    const char* help;
    const char* alias = "";
};

using O = IorOptions;

std::span<const Row> rows() {
    static const std::vector<Row> table{
        {'a', "api", Kind::text, &O::api, "POSIX, AIO, MMAP, MPIIO, HDF5, NCMPI or DUMMY"},
        {'A', "refNum", Kind::integer, &O::ref_num, "a number of yours, echoed in the summary"},
        {'b', "blockSize", Kind::size, &O::block, "contiguous bytes of a task in a segment [1m]"},
        {'B', "posix.odirect", Kind::flag, &O::direct, "past the page cache with O_DIRECT",
         "useO_DIRECT"},
        {'c', "collective", Kind::flag, &O::collective, "collective calls (MPIIO, HDF5, NCMPI)"},
        {'C', "reorderTasks", Kind::flag, &O::reorder,
         "read what a task on another node wrote (see -Q)", "reorderTasksConstant"},
        {'d', "interTestDelay", Kind::real, &O::delay, "pause before each phase, seconds"},
        {'D', "deadlineForStonewalling", Kind::integer, &O::deadline,
         "stop writing or reading after this time, seconds"},
        {'e', "fsync", Kind::flag, &O::fsync, "fsync after writing, inside the time"},
        {'E', "useExistingTestFile", Kind::flag, &O::use_existing,
         "write into the files that exist"},
        {'F', "filePerProc", Kind::flag, &O::file_per_proc, "a file for each task"},
        {'g', "intraTestBarriers", Kind::flag, &O::barriers,
         "barriers between open, calls and close"},
        {'G', "setTimeStampSignature", Kind::integer, &O::signature,
         "signature of the data; needed where one run verifies what another wrote"},
        {'H', "mpiio.showHints", Kind::flag, &O::show_hints, "show the effective hints",
         "showHints"},
        {'i', "repetitions", Kind::integer, &O::repetitions, "repetitions of all phases [1]"},
        {'I', "hdf5.individualDataSets", Kind::flag, &O::individual_datasets,
         "a dataset for each block", "individualDataSets"},
        {'j', "outlierThreshold", Kind::integer, &O::outlier_threshold,
         "name ranks that take this many seconds longer than the mean"},
        {'J', "hdf5.setAlignment", Kind::size, &O::alignment,
         "objects in the file that are at least as large begin at multiples of this, bytes",
         "setAlignment"},
        {'k', "keepFile", Kind::flag, &O::keep, "keep the files"},
        {'K', "keepFileWithError", Kind::flag, &O::keep_with_error,
         "keep the files if their data are wrong"},
        {'l', "dataPacketType", Kind::text, &O::data_type,
         "timestamp, offset, incompressible or random"},
        {'m', "multiFile", Kind::flag, &O::multi_file, "new files for each repetition"},
        {'M', "memoryPerNode", Kind::text, &O::memory_per_node,
         "memory of each node to take away, bytes or NN%"},
        {'n', "hdf5.noFill", Kind::flag, &O::no_fill, "datasets are never filled beforehand",
         "noFill"},
        {'N', "numTasks", Kind::integer, &O::num_tasks, "tasks that take part [all]"},
        {'o', "testFile", Kind::text, &O::test_file, "path; with -F several, @ between them"},
        {'p', "mpiio.preallocate", Kind::flag, &O::preallocate, "reserve the file first",
         "preallocate"},
        {'P', "useSharedFilePointer", Kind::flag, &O::shared_pointer, "(not supported)"},
        {'q', "quitOnError", Kind::flag, &O::quit_on_error, "end after a phase with wrong data"},
        {'Q', "taskPerNodeOffset", Kind::integer, &O::task_offset, "nodes between for -C, -Z [1]"},
        {'r', "readFile", Kind::flag, &O::read, "read"},
        {'R', "checkRead", Kind::flag, &O::check_read, "read, and verify in a separate pass"},
        {'s', "segmentCount", Kind::size, &O::segments, "segments [1]"},
        {'S', "mpiio.useStridedDatatype", Kind::flag, &O::strided_type,
         "all blocks of a task in one call (MPIIO)", "useStridedDatatype"},
        {'t', "transferSize", Kind::size, &O::transfer, "bytes of a call [256k]"},
        {'T', "maxTimeDuration", Kind::integer, &O::max_duration,
         "no phase begins after this time, minutes"},
        {'u', "uniqueDir", Kind::flag, &O::unique_dir, "a directory for each file of -F"},
        {'U', "mpiio.hintsFileName", Kind::text, &O::hints_file,
         "file of lines IOR_HINT__MPI__<hint>=<value>", "hintsFileName"},
        {'v', "verbose", Kind::flag, &O::verbose, "say more"},
        {'V', "mpiio.useFileView", Kind::flag, &O::file_view, "through a view (MPIIO)",
         "useFileView"},
        {'w', "writeFile", Kind::flag, &O::write, "write"},
        {'W', "checkWrite", Kind::flag, &O::check_write, "write, and verify in a separate pass"},
        {'x', "singleXferAttempt", Kind::flag, &O::single_attempt,
         "accepted: a call that moves too little is an error anyway"},
        {'X', "reorderTasksRandomSeed", Kind::integer, &O::reorder_seed, "seed for -Z"},
        {'y', "dualMount", Kind::flag, &O::dual_mount, "(not supported)"},
        {'Y', "fsyncPerWrite", Kind::flag, &O::fsync_per_write, "fsync after each call"},
        {'z', "randomOffset", Kind::flag, &O::random_offset,
         "each transfer once in random order; -zz: random blocks with repeats"},
        {'Z', "reorderTasksRandom", Kind::flag, &O::reorder_random,
         "read what a random task on another node wrote; -ZZ: of any task"},
        {0, "random-offset-seed", Kind::integer, &O::random_offset_seed, "seed for -z",
         "randomOffsetSeed"},
        {0, "randomPrefill", Kind::size, &O::random_prefill, "(not supported)"},
        {0, "warningAsErrors", Kind::flag, &O::warning_as_errors, "warnings refuse the run"},
        {0, "dryRun", Kind::flag, &O::dry_run, "say what would be done, and do nothing"},
        {0, "gpuDirect", Kind::flag, &O::gpu_direct, "(not supported)"},
        {0, "summaryFile", Kind::text, &O::summary_file, "where the output goes [stdout]"},
        {0, "summaryFormat", Kind::text, &O::summary_format, "default, JSON or CSV"},
        {0, "summaryAlways", Kind::flag, &O::summary_always, "the summary after each test"},
        {0, "saveRankPerformanceDetailsCSV", Kind::text, &O::rank_csv,
         "file of every rank's rates"},
        {0, "savePerOpDataCSV", Kind::text, &O::calls_csv, "prefix of files of every call's time"},
        {0, "stoneWallingWearOut", Kind::flag, &O::wear_out,
         "after -D continue until all tasks have done as much"},
        {0, "stoneWallingWearOutIterations", Kind::integer, &O::wear_out_iterations,
         "calls of a task at most"},
        {0, "stoneWallingStatusFile", Kind::text, &O::status_file,
         "keeps the number of calls between a run that writes and one that reads"},
        {0, "minTimeDuration", Kind::integer, &O::min_duration, "begin anew until then, seconds"},
        {0, "interIODelay", Kind::integer, &O::inter_io_delay,
         "pause after each call, microseconds"},
        {0, "memoryPerTask", Kind::size, &O::memory_per_task, "memory of each task to take away"},
        {0, "numNodes", Kind::integer, &O::num_nodes, "accepted: the nodes are found"},
        {0, "numTasksOnNode0", Kind::integer, &O::tasks_on_node0, "accepted: they are found"},
        {0, "allocateBufferOnGPU", Kind::integer, &O::gpu_buffer, "(not supported)"},
        {0, "GPUid", Kind::integer, &O::gpu_id, "accepted without effect"},
        {0, "debug", Kind::text, &O::debug, "accepted without effect"},
        {0, "platform", Kind::text, &O::platform, "accepted without effect"},
        {0, "posix.rangelocks", Kind::flag, &O::range_locks, "(not supported)"},
        {0, "aio.max-pending", Kind::integer, &O::aio_pending,
         "transfers of a task in flight with -a AIO [128]"},
        {0, "aio.granularity", Kind::integer, &O::aio_granularity, "accepted without effect"},
        {0, "mmap.madv_dont_need", Kind::flag, &O::madvise, "accepted without effect"},
        {0, "mmap.madv_pattern", Kind::flag, &O::madvise, "accepted without effect"},
        {0, "posix.lustre.stripecount", Kind::integer, &O::stripe_count,
         "storage targets of a new file on Lustre; -1: all", "lustreStripeCount"},
        {0, "posix.lustre.stripesize", Kind::size, &O::stripe_size,
         "bytes in a row on a storage target of Lustre", "lustreStripeSize"},
        {0, "posix.lustre.startost", Kind::integer, &O::stripe_start,
         "first storage target of Lustre", "lustreStartOST"},
        {0, "posix.lustre.pool", Kind::text, &O::stripe_pool, "pool of Lustre"},
        {0, "posix.lustre.ignorelocks", Kind::flag, &O::ignore_locks, "accepted without effect",
         "lustreIgnoreLocks"},
        {0, "posix.gpfs.hintaccess", Kind::flag, &O::gpfs, "accepted without effect",
         "gpfsHintAccess"},
        {0, "posix.gpfs.releasetoken", Kind::flag, &O::gpfs, "accepted without effect",
         "gpfsReleaseToken"},
        {0, "posix.gpfs.finegrainwritesharing", Kind::flag, &O::gpfs, "accepted without effect"},
        {0, "posix.gpfs.finegrainreadsharing", Kind::flag, &O::gpfs, "accepted without effect"},
        {0, "posix.gpfs.createsharing", Kind::flag, &O::gpfs, "accepted without effect"},
        {0, "posix.beegfs.NumTargets", Kind::integer, &O::beegfs_targets, "accepted without effect",
         "beegfsNumTargets"},
        {0, "posix.beegfs.ChunkSize", Kind::size, &O::beegfs_chunk, "accepted without effect",
         "beegfsChunkSize"},
        {0, "hdf5.collectiveMetadata", Kind::flag, &O::collective_metadata,
         "metadata is read and written by all tasks together"},
        {0, "hdf5.chunkSize", Kind::size, &O::chunk_size,
         "chunked datasets: 8-byte elements in a chunk"},
        {0, "hdf5.hintsFileName", Kind::text, &O::hints_file, "as -U"},
        {0, "hdf5.showHints", Kind::flag, &O::show_hints, "as -H"},
        {0, "ncmpi.hintsFileName", Kind::text, &O::hints_file, "as -U"},
        {0, "ncmpi.showHints", Kind::flag, &O::show_hints, "as -H"},
        {0, "ncmpi.preallocate", Kind::flag, &O::preallocate, "accepted without effect"},
        {0, "ncmpi.useStridedDatatype", Kind::flag, &O::strided_type, "accepted without effect"},
        {0, "ncmpi.useFileView", Kind::flag, &O::file_view, "accepted without effect"},
        {0, "dummy.delay-create", Kind::integer, &O::dummy_create, "delay of DUMMY, microseconds"},
        {0, "dummy.delay-close", Kind::integer, &O::dummy_close, "delay of DUMMY, microseconds"},
        {0, "dummy.delay-sync", Kind::integer, &O::dummy_sync, "delay of DUMMY, microseconds"},
        {0, "dummy.delay-xfer", Kind::integer, &O::dummy_transfer, "delay of DUMMY, microseconds"},
        {0, "dummy.delay-only-rank0", Kind::flag, &O::dummy_rank0, "delays on rank 0 alone"},
    };
    return table;
}

const Row* find(char letter) {
    const auto all = rows();
    const auto it =
        std::find_if(all.begin(), all.end(), [&](const Row& row) { return row.letter == letter; });
    return letter == 0 || it == all.end() ? nullptr : &*it;
}

const Row* find(std::string_view name) {
    const std::string wanted = lower_case(name);
    for (const Row& row : rows()) {
        if (lower_case(row.directive) == wanted || lower_case(row.alias) == wanted) return &row;
    }
    return nullptr;
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Reads options into one test at a time; remembers what is wrong.
class Reader {
  public:
    void words(const std::vector<std::string>& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::string& word = all[i];
            if (word == "-h" || word == "--help") {
                command_.help = true;
            } else if (word.starts_with("--")) {
                long_option(word.substr(2), all, i);
            } else if (word.size() > 1 && word[0] == '-') {
                short_options(word, all, i);
            } else {
                fault(fmt::format("'{}' is not an option", word));
            }
        }
    }

    Result<IorCommand> finish() {
        for (const auto& script : scripts_) read_script(script);
        if (scripts_.empty()) command_.tests.push_back(now_);
        if (command_.tests.empty()) fault("the script runs no test");
        if (!faults_.empty() && !command_.help) return usage_error(faults_);
        return std::move(command_);
    }

  private:
    void fault(const std::string& text) { faults_ += text + "\n"; }

    /// The value after '=' or in the next word.
    static const std::string* next(const std::vector<std::string>& all, std::size_t& i) {
        return i + 1 < all.size() ? &all[++i] : nullptr;
    }

    void long_option(const std::string& text, const std::vector<std::string>& all, std::size_t& i) {
        const auto equals = text.find('=');
        const std::string name = text.substr(0, equals);
        const Row* row = find(name);
        if (row == nullptr) {
            unknown("--" + name);
        } else if (equals != std::string::npos) {
            assign(*row, text.substr(equals + 1), "--" + name);
        } else if (row->kind == Kind::flag) {
            count(*row);
        } else if (const auto* value = next(all, i); value != nullptr) {
            assign(*row, *value, "--" + name);
        } else {
            fault(fmt::format("--{} needs a value", name));
        }
    }

    /// "-wk", "-vv", "-v=2", "-b 4m", "-b=4m", "-b4m": whatever follows the letter of an option
    /// with a value is the value.
    void short_options(const std::string& word, const std::vector<std::string>& all,
                       std::size_t& i) {
        for (std::size_t at = 1; at < word.size(); ++at) {
            const char letter = word[at];
            const std::string rest = word.substr(at + 1);
            const Row* row = find(letter);
            if (row == nullptr && letter != 'O' && letter != 'f') {
                unknown(fmt::format("-{}", letter));
                return;
            }
            if (row != nullptr && row->kind == Kind::flag) {
                if (rest.starts_with('=')) {
                    assign(*row, rest.substr(1), fmt::format("-{}", letter));
                    return;
                }
                count(*row);
                continue;
            }
            std::string value = rest.starts_with('=') ? rest.substr(1) : rest;
            if (rest.empty()) {
                const auto* word_after = next(all, i);
                if (word_after == nullptr) {
                    fault(fmt::format("-{} needs a value", letter));
                    return;
                }
                value = *word_after;
            }
            if (letter == 'O') {
                directives(value, "-O");
            } else if (letter == 'f') {
                scripts_.push_back(value);
            } else {
                assign(*row, value, fmt::format("-{}", letter));
            }
            return;
        }
    }

    void unknown(const std::string& name) {
        fault(fmt::format("'{}' is not an option of ior; ior --help lists them", name));
    }

    /// A flag that is there once more.
    void count(const Row& row) {
        std::int64_t& times = now_.*std::get<std::int64_t IorOptions::*>(row.target);
        if (const auto more = sum_of({times, 1}); more) {
            times = *more;
        } else {
            fault(fmt::format("{}: {} and once more is too much", row.directive, times));
        }
    }

    void assign(const Row& row, const std::string& text, const std::string& name) {
        if (row.kind == Kind::text) {
            now_.*std::get<std::string IorOptions::*>(row.target) = text;
            return;
        }
        if (row.kind == Kind::real) {
            const auto value = parse_real(text);
            if (!value || *value < 0) {
                fault(fmt::format("{}: '{}' is not a non-negative number", name, text));
            } else {
                now_.*std::get<double IorOptions::*>(row.target) = *value;
            }
            return;
        }
        const auto value = row.kind == Kind::size ? parse_ior_size(text) : parse_integer(text);
        if (!value) {
            fault(fmt::format("{}: {}", name, value.error().cause));
            return;
        }
        now_.*std::get<std::int64_t IorOptions::*>(row.target) = *value;
    }

    /// "key=value,key=value"; a flag may have no value.
    void directives(std::string_view text, const std::string& where) {
        while (!text.empty()) {
            const auto comma = text.find(',');
            const auto part = trimmed(text.substr(0, comma));
            text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
            if (!part.empty()) directive(part, where);
        }
    }

    void directive(std::string_view part, const std::string& where) {
        if (part.starts_with("--")) part.remove_prefix(2);
        const auto equals = part.find('=');
        const std::string name(trimmed(part.substr(0, equals)));
        const Row* row = find(name);
        if (row == nullptr && lower_case(name) == "storefileoffset") {
            // Of IOR 3.x; today -l offset.
            const bool off = equals != std::string_view::npos && part.substr(equals + 1) == "0";
            if (!off) now_.data_type = "offset";
            return;
        }
        if (row == nullptr) {
            fault(fmt::format("{}: '{}' is not a directive of ior", where, name));
        } else if (equals == std::string_view::npos) {
            if (row->kind == Kind::flag) {
                count(*row);
            } else {
                fault(fmt::format("{}: {} needs a value", where, name));
            }
        } else {
            assign(*row, std::string(trimmed(part.substr(equals + 1))),
                   fmt::format("{}: {}", where, name));
        }
    }

    void read_script(const std::string& path) {
        const auto script = read_text("read the script", path);
        if (!script) {
            fault(fmt::format("-f {}: cannot be read: {}", path, script.error().cause));
            return;
        }
        std::istringstream in(*script);
        bool started = false;
        bool stopped = false;
        bool pending = true;  // settings that no RUN has used yet
        int number = 0;
        for (std::string line; std::getline(in, line) && !stopped;) {
            ++number;
            const auto text = trimmed(std::string_view(line).substr(0, line.find('#')));
            const std::string word = lower_case(text);
            const std::string where = fmt::format("{} line {}", path, number);
            if (text.empty()) continue;
            if (!started) {
                if (word != "ior start") {
                    fault(fmt::format("{}: expected 'IOR START'", where));
                    return;
                }
                started = true;
            } else if (word == "ior stop") {
                stopped = true;
            } else if (word == "run") {
                command_.tests.push_back(now_);
                pending = false;
            } else {
                directives(text, where);
                pending = true;
            }
        }
        // As in the original, the end of the file ends the script, too.
        if (pending) command_.tests.push_back(now_);
    }

    IorOptions now_;
    IorCommand command_;
    std::vector<std::string> scripts_;
    std::string faults_;
};

}  // namespace

Result<std::int64_t> parse_ior_size(std::string_view text) {
    const std::string all = lower_case(text);
    const auto digits = all.find_first_not_of("0123456789");
    std::string unit = digits == std::string::npos ? "" : all.substr(digits);
    const auto bad = [&] {
        return usage_error(fmt::format(
            "'{}' is not a size: expected an integer with an optional suffix k, m, g, t or p",
            text));
    };
    std::int64_t factor = 1;
    if (!unit.empty()) {
        const std::string_view prefixes = "kmgtp";
        const auto power = prefixes.find(unit[0]);
        if (power == std::string_view::npos) return bad();
        unit.erase(0, 1);
        if (!unit.empty() && unit != "b" && unit != "ib") return bad();
        for (std::size_t i = 0; i <= power; ++i) factor *= KiB;
    }
    const auto number = parse_integer(all.substr(0, digits));
    if (!number || *number > std::numeric_limits<std::int64_t>::max() / factor) return bad();
    return *number * factor;
}

Result<IorCommand> parse_ior(const std::vector<std::string>& words) {
    Reader reader;
    reader.words(words);
    return reader.finish();
}

std::string ior_help() {
    std::string text =
        "ior: bulk reads and writes through POSIX, MPI-IO, HDF5 or PnetCDF, with the options and "
        "the output of "
        "IOR.\nFlags may be joined (-wk) and count (-vv); sizes take k, m, g, t, p.\n\n"
        "  -f FILE            script: IOR START, directives, RUN[, IOR STOP]\n"
        "  -O KEY=VALUE,...   directives\n";
    for (const Row& row : rows()) {
        const std::string letter = row.letter != 0 ? fmt::format("-{}, ", row.letter) : "    ";
        text += fmt::format("  {}--{}{}\n        {}\n", letter, row.directive,
                            row.kind == Kind::flag ? "" : " VALUE", row.help);
    }
    return text + "\nWhat differs from the original: docs/benchmarks/ior.md\n";
}

}  // namespace effio
