// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/saturation/saturation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/pattern.hpp"
#include "core/units.hpp"

namespace effio::saturation {
namespace {

class Saturate : public study::StudyBenchmark<Parameters> {
  public:
    std::string_view name() const override { return "saturation"; }
    std::string_view purpose() const override {
        return "How many processes it takes to saturate the storage: the rate over numbers of "
               "processes, and how many of them are enough";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 64 effio-mpi saturation --dir /scratch/me --size 1GiB\n"
               "      1, 2, 4, ... 64 processes, spread over the nodes: 'use 12 of 64'\n"
               "  mpiexec -n 64 effio-mpi saturation --dir /scratch/me --size 1GiB \\\n"
               "          --placing packed,spread --processes 1,2,4,8,12,16,24,32,64\n"
               "      whether it matters on which nodes they are\n"
               "  mpiexec -n 64 effio-mpi saturation --dir /scratch/me --files own,shared \\\n"
               "          --transfer 64KiB,4MiB --backend direct\n"
               "      a file each or one file, small calls and large, past the page cache";
    }

  protected:
    Result<study::Definition> define(int ranks) const override {
        return saturation::define(parameters_, ranks);
    }
};

/// Each process has a stretch of `bytes`: at the start of each one's file, or one after the other.
study::Cell streams(std::int64_t processes, bool shared, std::int64_t bytes, std::int64_t call) {
    study::Cell cell;
    cell.ranks = static_cast<int>(processes);
    cell.files = shared ? 1 : cell.ranks;
    cell.file_bytes = shared ? processes * bytes : bytes;
    cell.data = study::Pieces{[=](int rank) {
        return Addresses(shared ? rank * bytes : 0, Strides{call, {{bytes / call, call}}});
    }};
    return cell;
}

const Words<study::Placing>& placing_words() {
    static const Words<study::Placing> words{{"packed", study::Placing::packed},
                                             {"spread", study::Placing::spread}};
    return words;
}
const Words<FileUse>& file_words() {
    static const Words<FileUse> words{{"own", FileUse::own}, {"shared", FileUse::shared}};
    return words;
}

template <class T>
bool has_twice(const std::vector<T>& list) {
    return std::set<T>(list.begin(), list.end()).size() < list.size();
}

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table
        .add("processes", processes,
             "numbers of processes that do I/O at the same time; each is measured, and the answer "
             "is one of them")
        .range(1, 2147483647)
        .automatic("1, 2, 4, ... and all ranks");
    table.choice("placing", placings, placing_words(),
                 "which processes take part: all of the first node, then those of the next "
                 "(packed), or one of each node after the other (spread)");
    table.add("size", size, "bytes that each process writes and reads; a multiple of the transfer")
        .letter('s')
        .range(4096, 9e15);
    table.add("transfer", transfers, "sizes of a call; multiples of 4KiB")
        .letter('b')
        .range(4096, 9e15);
    table.choice("files", files, file_words(), "a file of each process, or one that all share");
    declare_phases(table);
    table.add("prefix", prefix, "file names begin with this").metavar("NAME").expert();
    declare_common(table);
}

Status Parameters::check() {
    Status rules = check_rules({
        {prefix.empty() || prefix.find('/') != std::string::npos,
         "--prefix is the start of a file name and must not contain '/'; use --dir for the "
         "directory"},
        {has_twice(processes) || has_twice(placings) || has_twice(files),
         "--processes, --placing and --files: nothing is measured twice"},
    });
    if (!rules) return rules;
    for (const auto transfer : transfers) {
        Status of_transfer = check_rules({
            {transfer.count % StampedPattern::page != 0,
             fmt::format("--transfer: {} is not a multiple of 4KiB", format_exact(transfer))},
            {size.count % transfer.count != 0,
             fmt::format("--size: {} is not a multiple of the transfer {}", format_exact(size),
                         format_exact(transfer))},
        });
        if (!of_transfer) return of_transfer;
    }
    return check_common();
}

Result<study::Definition> define(const Parameters& p, int ranks) {
    study::Definition study;
    study.name = "saturation";
    study.scales_over = "processes";
    study.headline = study::Headline::enough;
    for (const auto processes : p.processes.empty() ? study::doubled_up_to(ranks) : p.processes) {
        if (processes > ranks) {
            return usage_error(fmt::format("--processes: {} are more than the {} of the run",
                                           processes, count_of(ranks, "rank")));
        }
        for (const auto placing : p.placings) {
            for (const auto use : p.files) {
                const std::string& file = word_of(file_words(), use);
                for (const auto transfer : p.transfers) {
                    study::Cell cell =
                        streams(processes, use == FileUse::shared, p.size.count, transfer.count);
                    cell.pattern = file + " file";
                    cell.axes = {study::count_axis("processes", processes),
                                 study::size_axis("transfer", transfer.count),
                                 study::word_axis("placing", word_of(placing_words(), placing))};
                    cell.layout.placing = placing;
                    cell.file =
                        fmt::format("{}_{}_{}_{}_{}", p.prefix, file,
                                    word_of(placing_words(), placing), transfer.count, processes);
                    cell.content = study::Content::stamped;
                    cell.sync = p.fsync;
                    study.add(cell, p.phases);
                }
            }
        }
    }
    study.title = fmt::format("Saturation: {} of each process", shown_size(p.size));
    study.facts = {{"size_bytes", Unit::bytes, "--size, of a process", p.size.count}};
    return study;
}

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Saturate>();
}

}  // namespace effio::saturation
