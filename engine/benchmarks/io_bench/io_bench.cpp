// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/io_bench/io_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/pattern.hpp"
#include "core/units.hpp"

namespace effio::io_bench {
namespace {

using study::Cell;

constexpr std::int64_t least_block = 64 * KiB;
constexpr std::int64_t largest_block = 128 * MiB;

struct Test {
    const char* pattern;
    Order order;
};
constexpr std::array<Test, 3> tests{{{"sequential", Order::sequential},
                                     {"backward", Order::backward},
                                     {"random", Order::shuffled}}};

/// The blocks of a copy's file, each once.
Addresses blocks_of(std::int64_t file, std::int64_t block, Order order, std::uint64_t seed) {
    return Addresses(0, Strides{block, {{file / block, block}}}).in(order, seed);
}

class IoBench : public study::StudyBenchmark<Parameters> {
  public:
    std::string_view name() const override { return "io-bench"; }
    std::string_view purpose() const override {
        return "One process and its file (IO_Bench): sequential, backward and random writes and "
               "reads over block sizes, as a percentage of what the path can do";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  effio-mpi io-bench --dir /scratch/me --size 128GiB --peak 6GB/s\n"
               "      six tests over block sizes from 64 KiB to 128 MiB, twice the memory\n"
               "  effio-mpi io-bench --dir /scratch/me --backend direct --peak measured\n"
               "      past the page cache, compared with streams of 16 MiB measured in the same "
               "run\n"
               "  mpiexec -n 8 effio-mpi io-bench --dir /scratch/me --copies 1,2,4,8\n"
               "      the same on several processes at once, each with its own file";
    }

  protected:
    Result<study::Definition> define(int ranks) const override {
        return io_bench::define(parameters_, ranks);
    }
};

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table.add("size", size, "size of a file; the reference has twice the memory of the machine")
        .letter('s')
        .range(4096, 9e15);
    table.add("block", blocks, "sizes of a call; they divide the file")
        .letter('b')
        .range(4096, 9e15)
        .automatic("64KiB, 128KiB, … 128MiB, as far as a file holds two");
    table.add("copies", copies, "processes that run at once; 1 is the reference")
        .range(1, 2147483647);
    declare_peak(table);
    table.add("seed", seed, "seed of the random order").range(0, 9e18).expert();
    table.add("prefix", prefix, "file names begin with this").metavar("NAME").expert();
    declare_common(table);
}

std::vector<Bytes> Parameters::blocks_in_force() const {
    if (!blocks.empty()) return blocks;
    std::vector<Bytes> list;
    for (std::int64_t b = least_block; b <= std::min(largest_block, size.count / 2); b *= 2) {
        if (size.count % b == 0) list.push_back({b});
    }
    return list;
}

Status Parameters::check() {
    Status rules = check_rules({
        {prefix.find('/') != std::string::npos,
         "--prefix is the start of a file name and must not contain '/'; use --dir for the "
         "directory"},
        {blocks_in_force().empty(),
         "--size: no block of 64KiB to 128MiB divides the file at least twice; give --block"},
    });
    if (!rules) return rules;
    for (const auto block : blocks_in_force()) {
        Status of_block = check_rules({
            {block.count % StampedPattern::page != 0,
             fmt::format("--block: {} is not a multiple of 4KiB", format_exact(block))},
            {size.count % block.count != 0,
             fmt::format("--size: {} is not a multiple of the block {}", format_exact(size),
                         format_exact(block))},
        });
        if (!of_block) return of_block;
    }
    return check_common();
}

Result<study::Definition> define(const Parameters& p, int ranks) {
    study::Definition study;
    study.name = "io-bench";
    study.peak = p.peak;
    Cell cell;
    cell.content = study::Content::stamped;
    cell.file_bytes = p.size.count;
    cell.sync = p.fsync;
    const auto seed = static_cast<std::uint64_t>(p.seed);
    const auto add = [&](const char* pattern, Order order, std::int64_t block) {
        cell.pattern = pattern;
        cell.data = study::Pieces{[=, file = p.size.count](int rank) {
            return blocks_of(file, block, order, mix64(seed + static_cast<std::uint64_t>(rank)));
        }};
        study.add(cell, p.phases);
    };
    const auto axes_of = [](std::int64_t copies, std::int64_t block) {
        return std::vector{study::size_axis("block", block), study::count_axis("copies", copies)};
    };
    if (p.measures_peak()) {
        // All streams together move as many bytes as the largest number of copies.
        const std::int64_t all = p.size.count * *std::max_element(p.copies.begin(), p.copies.end());
        const auto bytes = [all](std::int64_t streams) {
            return std::max(all / streams / StampedPattern::page, std::int64_t{1}) *
                   StampedPattern::page;
        };
        p.add_peak(study, {ranks, bytes, axes_of, p.prefix + "_peak"});
    }
    for (const auto copies : p.copies) {
        if (copies > ranks) {
            return usage_error(fmt::format("--copies: {} are more than the {} of the run", copies,
                                           count_of(ranks, "rank")));
        }
        cell.ranks = cell.files = static_cast<int>(copies);
        for (const auto block : p.blocks_in_force()) {
            cell.axes = axes_of(copies, block.count);
            cell.file = fmt::format("{}_{}_{}", p.prefix, block.count, copies);
            for (const auto& test : tests) add(test.pattern, test.order, block.count);
        }
    }
    study.title = fmt::format("IO_Bench: files of {}, six tests a block size", shown_size(p.size));
    study.facts = {{"file_bytes", Unit::bytes, "--size", p.size.count}};
    return study;
}

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<IoBench>();
}

}  // namespace effio::io_bench
