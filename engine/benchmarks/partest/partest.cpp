// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/partest/partest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/pattern.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"

namespace effio::partest {
namespace {

using study::Cell;

/// The most tasks with random sizes. Each rank draws the sizes of all of them, in a fraction of a
/// second.
constexpr std::int64_t most_drawn = 1 << 24;

class Partest : public study::StudyBenchmark<Parameters> {
  public:
    explicit Partest(std::unique_ptr<study::Observer> view) : StudyBenchmark(std::move(view)) {}

    std::string_view name() const override { return "partest"; }
    std::string_view purpose() const override {
        return "A container of all tasks (SION), a file of each task, and a shared file through "
               "the same phases (partest): what creating, opening and moving cost in each";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 64 effio-mpi partest --dir /scratch/me --shift 16\n"
               "      20 MiB a task with all three methods; each reads what another node's task "
               "wrote\n"
               "  mpiexec -n 64 effio-mpi partest --dir /scratch/me --methods sion,task-local \\\n"
               "          --tasks 16,32,64 --size 1MiB --unlink\n"
               "      what it costs to create and to remove a file for each task\n"
               "  mpiexec -n 64 effio-mpi partest --dir /scratch/me --methods sion \\\n"
               "          --chunk 1MiB,4MiB,16MiB --size 16MiB\n"
               "      the container's rate over the size of its chunks";
    }

  protected:
    Result<study::Definition> define(int ranks) const override {
        return partest::define(parameters_, ranks);
    }
};

/// The axis of the chunks, which only the container has.
study::Axis chunk_axis(std::optional<std::int64_t> chunk) {
    study::Axis axis = study::size_axis("chunk", chunk.value_or(0));
    if (!chunk) {
        axis.value = nullptr;
        axis.text = "-";
    }
    return axis;
}

const Words<Method>& method_words() {
    static const Words<Method> words{{"sion", Method::container},
                                     {"task-local", Method::task_local},
                                     {"shared", Method::shared}};
    return words;
}

/// What all methods have in common.
Cell common_cell(const Parameters& p, std::int64_t tasks) {
    Cell cell;
    cell.ranks = static_cast<int>(tasks);
    cell.content = study::Content::stamped;
    cell.sync = p.fsync;
    cell.manner.waits = true;
    cell.manner.at_a_time = static_cast<int>(std::min(p.at_a_time, tasks));
    if (p.shift) cell.manner.shift = static_cast<int>(*p.shift % tasks);
    study::Streams streams;
    streams.request = p.call.count;
    streams.first = p.first_access.count;
    streams.bytes = [p, tasks](int task) { return p.bytes_of(task, tasks); };
    if (p.random_size == 0) {
        streams.count_equal(cell.ranks);
    } else {
        streams.count(cell.ranks);
    }
    cell.data = std::move(streams);
    return cell;
}

/// Makes the common cell one of a method, for chunks of a size if that is the container.
Cell cell_of(const Parameters& p, Cell cell, Method method, std::optional<std::int64_t> chunk) {
    auto& streams = std::get<study::Streams>(cell.data);
    cell.pattern = word_of(method_words(), method);
    cell.axes = {study::count_axis("tasks", cell.ranks), chunk_axis(chunk)};
    cell.file =
        p.exact_name ? p.prefix : fmt::format("{}_{}_{}", p.prefix, cell.pattern, cell.ranks);
    const bool model = is_model(p.storage.backend.name);
    if (method == Method::task_local) {
        streams.apart = true;
        cell.manner.creates_apart = true;
        cell.files = cell.ranks;
        cell.file_bytes = streams.largest;
    } else if (method == Method::container) {
        if (!p.exact_name) cell.file += fmt::format("_{}", *chunk);
        cell.file_bytes = streams.sum_of_bytes;
        if (!model) cell.parts_of_file = static_cast<int>(p.container_files);
    } else {
        const int last = cell.ranks - 1;
        cell.file_bytes = streams.begin(last) + streams.bytes(last);
        for (const auto& hint : p.hints) {
            const auto equals = hint.find('=');
            cell.hints.set(hint.substr(0, equals), hint.substr(equals + 1));
        }
        if (!model) cell.backend.emplace().name = "mpiio";
    }
    return cell;
}

void add(study::Definition& study, const Parameters& p, Cell cell,
         std::optional<std::int64_t> chunk) {
    const bool container = chunk && !is_model(p.storage.backend.name);
    for (const auto& phase : p.phases) {
        const bool writes = phase == "write";
        if (container) {
            cell.backend = p.container(*chunk, cell.ranks, phase);
            cell.collective = p.collects(phase);
        }
        cell.passes = {writes ? study::write_pass() : study::read_pass()};
        if (writes && p.double_write) cell.passes.push_back(study::write_pass("re-write"));
        cell.manner.opens_alone = !writes && chunk && p.opens_alone;
        study.cells.push_back(cell);
    }
    study.cells.back().manner.unlinks = p.unlink;
}

/// As SIONlib shares out tasks where nothing else is said.
std::int64_t tasks_of_a_collector(std::int64_t tasks) {
    std::int64_t collectors = 1;
    for (const auto& [least, many] :
         std::array<std::pair<int, int>, 4>{{{16, 4}, {32, 8}, {256, 16}, {512, 32}}}) {
        if (tasks >= least) collectors = many;
    }
    return (tasks + collectors - 1) / collectors;
}

/// Whether the sizes of this many tasks can be drawn and added up.
Status check_sizes(const Parameters& p, std::int64_t tasks) {
    if (p.random_size > 0 && tasks > most_drawn) {
        return usage_error(fmt::format("--random-size: {} are too many; the most are {}",
                                       count_of(tasks, "task"), most_drawn));
    }
    const double own = static_cast<double>(p.bytes_without_random(tasks));
    if (own * (1 + p.random_size) * static_cast<double>(tasks) >= 0x1p63) {
        return usage_error(fmt::format("--{}: the files of {} would be larger than 8 EiB",
                                       p.total ? "total" : "size", count_of(tasks, "task")));
    }
    return {};
}

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table.choice("methods", methods, method_words(),
                 "methods to compare: a container, a file of each task, one file through MPI-IO");
    table.add("tasks", tasks, "processes that take part; each number is measured")
        .range(1, 2147483647)
        .automatic("all ranks");
    table.add("size", size, "bytes of a task").letter('s').range(1, 9e15);
    table.add("total", total, "bytes of all tasks together, instead of --size")
        .range(1, 9e15)
        .automatic("--size for each");
    table
        .add("random-size", random_size,
             "each task has up to this part of its size more, at random")
        .range(0, 1);
    table.add("call", call, "bytes of a call; a task's last one may be shorter")
        .letter('b')
        .range(1, 9e15);
    table
        .add("first-access", first_access,
             "bytes of a task's first call; the later ones are then not aligned")
        .range(0, 9e15);
    table.add("chunk", chunks, "size of a task's chunks in the container; each is measured")
        .range(1, 9e15)
        .automatic("all that the largest task writes");
    table.add("block", block, "size to which the container's chunks are aligned")
        .range(1, 2147483647)
        .automatic("the file system's");
    table
        .add("container-files", container_files,
             "files that the container is made of, each with some tasks")
        .range(1, 2147483647);
    table
        .add(
            "collective", collective,
            "phases in which some tasks, the collectors, move the container's bytes for the others")
        .choices({"write", "read"});
    table.add("collector-tasks", collector_tasks, "number of tasks for each collector")
        .range(1, 2147483647)
        .automatic("all below 16 tasks of a file; then 4 to 32 collectors, as SIONlib");
    table.choice("container-open", opens_alone, {{"together", false}, {"each", true}},
                 "a container is opened for reading by all tasks together, or by each for itself");
    table
        .add("shift", shift,
             "task t reads what task t + shift wrote (modulo the number of tasks); --reader is "
             "then ignored")
        .range(0, 2147483647)
        .automatic("as --reader says");
    table
        .add("at-a-time", at_a_time,
             "number of tasks that make their calls at the same time (0: all)")
        .range(0, 2147483647);
    table.flag("double-write", double_write, "everything is written twice, in one visit");
    table.flag("unlink", unlink, "time the removal of the files, too");
    declare_phases(table);
    table.add("hint", hints, "hints for the shared file, KEY=VALUE").metavar("KEY=VALUE");
    table.add("seed", seed, "seed of the random sizes").range(0, 9e18).expert();
    table.add("prefix", prefix, "file names begin with this").metavar("NAME").expert();
    table.flag("exact-name", exact_name, "take --prefix as the complete name").expert();
    declare_common(table);
}

Status Parameters::check() {
    const auto has = [&](const char* phase) {
        return std::find(phases.begin(), phases.end(), phase) != phases.end();
    };
    const bool container =
        std::find(methods.begin(), methods.end(), Method::container) != methods.end();
    Status rules = check_rules({
        {prefix.empty() || prefix.find('/') != std::string::npos,
         "--prefix is the start of a file name and must not contain '/'; use --dir for the "
         "directory"},
        {first_access > call, fmt::format("--first-access: {} are more than a call of {}",
                                          format_exact(first_access), format_exact(call))},
        {exact_name && (methods.size() > 1 || chunks.size() > 1 || tasks.size() > 1),
         "--exact-name: there is one file for each method, number of tasks and "
         "size of chunk"},
        {unlink && storage.keep, "--unlink and --keep exclude each other"},
        {unlink && !has("write"), "--unlink: files of an earlier run are read and not removed"},
        {double_write && !has("write"), "--double-write: --phases has no write"},
        {!container && (container_files > 1 || !collective.empty()),
         "--container-files and --collective: --methods has no sion"},
        {collector_tasks && collective.empty(),
         "--collector-tasks: --collective says in which phases"},
        {!collective.empty() && at_a_time > 0,
         "--at-a-time: all tasks make --collective calls together"},
        {collects("read") && opens_alone,
         "--collective=read: the container is opened by all tasks together"},
    });
    if (!rules) return rules;
    for (const auto& hint : hints) {
        if (const auto equals = hint.find('='); equals == 0 || equals == std::string::npos) {
            return usage_error(fmt::format("--hint: expected KEY=VALUE, not '{}'", hint));
        }
    }
    return check_common();
}

std::int64_t Parameters::bytes_without_random(std::int64_t among) const {
    return total ? std::max<std::int64_t>(1, total->count / among) : size.count;
}

std::int64_t Parameters::bytes_of(int task, std::int64_t among) const {
    const std::int64_t own = bytes_without_random(among);
    if (random_size == 0) return own;
    constexpr double to_unit = 1.0 / 9007199254740992.0;  // 2^-53
    const std::uint64_t drawn =
        mix64(mix64(static_cast<std::uint64_t>(seed)) + static_cast<std::uint64_t>(task)) >> 11;
    return own + static_cast<std::int64_t>(random_size * static_cast<double>(own) *
                                           (static_cast<double>(drawn) * to_unit));
}

bool Parameters::collects(const std::string& phase) const {
    return std::find(collective.begin(), collective.end(), phase) != collective.end();
}

BackendChoice Parameters::container(std::int64_t chunk, std::int64_t among,
                                    const std::string& phase) const {
    BackendChoice choice;
    choice.name = "sion";
    choice.sion.chunk = Bytes{chunk};
    choice.sion.block = block;
    choice.sion.files = container_files;
    if (collects(phase)) {
        choice.sion.collector_tasks =
            collector_tasks.value_or(tasks_of_a_collector(among / container_files));
    }
    return choice;
}

Result<study::Definition> define(const Parameters& p, int ranks) {
    study::Definition study;
    study.name = "partest";
    const auto numbers = p.tasks.empty() ? std::vector<std::int64_t>{ranks} : p.tasks;
    if (numbers.size() > 1) study.scales_over = "tasks";
    bool small = false;
    Samples in_all;   // bytes of all tasks together
    Samples of_task;  // of one
    for (const auto tasks : numbers) {
        if (tasks > ranks) {
            return usage_error(fmt::format("--tasks: {} are more than the {} of the run", tasks,
                                           count_of(ranks, "rank")));
        }
        if (const Status sizes = check_sizes(p, tasks); !sizes) return sizes.error();
        const Cell common = common_cell(p, tasks);
        in_all.add(static_cast<double>(std::get<study::Streams>(common.data).sum_of_bytes));
        const int drawn = p.random_size == 0 ? 1 : common.ranks;
        for (int task = 0; task < drawn; ++task) {
            of_task.add(static_cast<double>(p.bytes_of(task, tasks)));
        }
        const auto chunks =
            p.chunks.empty() ? std::vector<Bytes>{{std::get<study::Streams>(common.data).largest}}
                             : p.chunks;
        for (const Method method : p.methods) {
            if (method != Method::container) {
                add(study, p, cell_of(p, common, method, {}), {});
                continue;
            }
            if (p.container_files > tasks) {
                return usage_error(fmt::format("--container-files: {} are more than the {}",
                                               p.container_files, count_of(tasks, "task")));
            }
            for (const auto chunk : chunks) {
                add(study, p, cell_of(p, common, method, chunk.count), chunk.count);
                small = small || (p.block && chunk < *p.block);
            }
        }
    }
    // What is written: shares of --total are rounded, and those of --random-size differ.
    const Samples& written = p.total ? in_all : of_task;
    const std::string amount =
        shown_sizes({std::llround(written.min())}, {std::llround(written.max())}) +
        (p.total ? " in all" : " a task");
    study.title =
        fmt::format("partest: {} in calls of {}{}", amount, shown_size(p.call),
                    small ? "; chunks are smaller than the block: the container has holes" : "");
    study.facts = {
        {"size_bytes", Unit::bytes, "--size", p.size.count},
        {"total_bytes", Unit::bytes, "--total", count_of(p.total)},
        {"random_size", Unit::number, "--random-size", p.random_size},
        {"call_bytes", Unit::bytes, "--call", p.call.count},
        {"first_access_bytes", Unit::bytes, "--first-access", p.first_access.count},
        {"shift", Unit::count, "--shift", p.shift},
        {"at_a_time", Unit::count, "--at-a-time", p.at_a_time},
        {"container_open", Unit::word, "--container-open", p.opens_alone ? "each" : "together"},
        {"container_files", Unit::count, "--container-files", p.container_files},
        {"collective", Unit::word, "--collective", p.collective}};
    return study;
}

std::unique_ptr<Benchmark> make_benchmark(std::unique_ptr<study::Observer> view) {
    return std::make_unique<Partest>(std::move(view));
}

}  // namespace effio::partest
