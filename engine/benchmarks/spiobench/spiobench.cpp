// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/spiobench/spiobench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/pattern.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"

namespace effio::spiobench {
namespace {

class Spiobench : public study::StudyBenchmark<Parameters> {
  public:
    std::string_view name() const override { return "spiobench"; }
    std::string_view purpose() const override {
        return "Streams to and from a file of each process, over numbers of processes (SPIOBENCH): "
               "how bandwidth scales when the amount stays";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 64 effio-mpi spiobench --dir /scratch/me --size 128GB --peak 6GB/s\n"
               "      128 GB by 1, 2, 4, ... 64 tasks, as a percentage of what the path can do\n"
               "  mpiexec -n 64 effio-mpi spiobench --dir /scratch/me --task-size 4GiB \\\n"
               "          --tasks 16,32,64\n"
               "      as much for each task, however many there are\n"
               "  mpiexec -n 8 effio-mpi spiobench --dir /scratch/me --block 64KiB,1MiB,16MiB\n"
               "      the same over the size of a call";
    }

  protected:
    Result<study::Definition> define(int ranks) const override {
        return spiobench::define(parameters_, ranks);
    }
};

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table
        .add("size", size,
             "size of all files together, divided among the tasks; the original's is 128GB")
        .letter('s')
        .range(4096, 9e15);
    table.add("task-size", task_size, "size of each task's file, instead of --size")
        .range(4096, 9e15)
        .automatic("a share of --size");
    table.add("block", blocks, "sizes of a call; multiples of 4KiB").letter('b').range(4096, 9e15);
    table.add("tasks", tasks, "processes that stream at the same time; each number is measured")
        .range(1, 2147483647)
        .automatic("1, 2, 4, ... and all ranks");
    declare_phases(table);
    declare_peak(table);
    table.add("prefix", prefix, "file names begin with this").metavar("NAME").expert();
    declare_common(table);
}

Status Parameters::check() {
    if (prefix.empty() || prefix.find('/') != std::string::npos) {
        return usage_error(
            "--prefix is the start of a file name and must not contain '/'; use --dir for the "
            "directory");
    }
    for (const auto block : blocks) {
        if (block.count % StampedPattern::page != 0) {
            return usage_error(
                fmt::format("--block: {} is not a multiple of 4KiB", format_exact(block)));
        }
        if (task_size && task_size->count % block.count != 0) {
            return usage_error(fmt::format("--task-size: {} is not a multiple of the block {}",
                                           format_exact(*task_size), format_exact(block)));
        }
    }
    return check_common();
}

std::int64_t Parameters::file_bytes(std::int64_t among, std::int64_t block) const {
    if (task_size) return task_size->count;
    return std::max<std::int64_t>(1, size.count / among / block) * block;
}

Result<study::Definition> define(const Parameters& p, int ranks) {
    study::Definition study;
    study.name = "spiobench";
    study.peak = p.peak;
    study.scales_over = "tasks";
    const auto axes_of = [](std::int64_t tasks, std::int64_t block) {
        return std::vector{study::count_axis("tasks", tasks), study::size_axis("block", block)};
    };
    if (p.measures_peak()) {
        const auto bytes = [&p](std::int64_t streams) {
            return p.file_bytes(streams, p.blocks.front().count);
        };
        p.add_peak(study, {ranks, bytes, axes_of, p.prefix + "_peak"});
    }
    study::Cell cell;
    cell.content = study::Content::stamped;
    cell.sync = p.fsync;
    Samples in_all;  // bytes of all files of a cell
    for (const auto tasks : p.tasks.empty() ? study::doubled_up_to(ranks) : p.tasks) {
        if (tasks > ranks) {
            return usage_error(fmt::format("--tasks: {} are more than the {} of the run", tasks,
                                           count_of(ranks, "rank")));
        }
        cell.ranks = cell.files = static_cast<int>(tasks);
        for (const auto block : p.blocks) {
            const std::int64_t bytes = p.file_bytes(tasks, block.count);
            cell.pattern = "own file";
            cell.axes = axes_of(tasks, block.count);
            cell.file = fmt::format("{}_{}_{}", p.prefix, tasks, block.count);
            cell.file_bytes = bytes;
            in_all.add(static_cast<double>(bytes * tasks));
            cell.data = study::Pieces{[bytes, block = block.count](int /*rank*/) {
                return Addresses(0, Strides{block, {{bytes / block, block}}});
            }};
            study.add(cell, p.phases);
        }
    }
    std::string amount = p.task_size ? shown_size(*p.task_size) + " a task" : "";
    if (!p.task_size) {
        // Each task has whole blocks, one at least, so this is not always --size.
        const Bytes least{std::llround(in_all.min())};
        const Bytes most{std::llround(in_all.max())};
        amount = shown_sizes(least, most) + " in all";
        if (least.count != p.size.count || most.count != p.size.count) {
            amount += fmt::format(" (--size {} in whole blocks of each task)", shown_size(p.size));
        }
    }
    study.title = fmt::format("SPIOBENCH: {}, a file of each task", amount);
    std::optional<std::int64_t> size;
    if (!p.task_size) size = p.size.count;
    study.facts = {{"size_bytes", Unit::bytes, "--size, of all tasks", size},
                   {"task_size_bytes", Unit::bytes, "--task-size", count_of(p.task_size)}};
    return study;
}

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Spiobench>();
}

}  // namespace effio::spiobench
