// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/libraries/libraries.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/benchmark_with.hpp"
#include "benchmarks/libraries/runner.hpp"
#include "benchmarks/libraries/views.hpp"
#include "benchmarks/storage_run.hpp"
#include "core/table.hpp"
#include "core/whole.hpp"

namespace effio::libraries {
namespace {

class Libraries : public BenchmarkWith<Parameters> {
  public:
    std::string_view name() const override { return "libraries"; }
    std::string_view purpose() const override {
        return "What I/O libraries cost: HDF5, PnetCDF, NetCDF-4, MPI-IO and POSIX against one "
               "file "
               "per process, with and without hints";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 16 effio-mpi libraries --dir /scratch/me --repetitions 3\n"
               "      all libraries, 64 MB a process, on 1, 2, 4, 8 and 16 processes\n"
               "  mpiexec -n 16 effio-mpi libraries --scaling strong --processes 4,16 \\\n"
               "          --hint-sets none,cb-on,cb-off,aligned\n"
               "      the same data on any number of processes, more hints\n"
               "  mpiexec -n 4 effio-mpi libraries --hint-set "
               "mine:cb_nodes=2+hdf5.alignment=4MiB\n"
               "      a set of your own\n"
               "  effio-mpi libraries --edges 96,200 --plan --plan-ranks 256";
    }
    Result<Plan> plan(const PlanInput& input) const override;
    std::vector<std::string> needed_directories() const override {
        if (is_model(parameters_.libraries.front())) return {};
        return {parameters_.directory};
    }
    Ending run(Job& job) override;

  private:
    Status check_processes(int ranks) const;
    std::int64_t contenders() const {
        return static_cast<std::int64_t>(parameters_.libraries.size() * parameters_.sets.size());
    }
    /// The most that lies on storage at a time.
    std::int64_t most_bytes(int ranks, std::size_t contenders) const;
    Ending run_on(Job& job, Selection& selection, Target& target);
};

Status Libraries::check_processes(int ranks) const {
    for (const auto n : parameters_.processes) {
        if (n > ranks) {
            return usage_error(fmt::format("--processes: {} is more than the {} of the run", n,
                                           count_of(ranks, "rank")));
        }
    }
    // One library's files of all points, and those of all libraries that --keep leaves.
    const auto counts = parameters_.processes_in_force(ranks);
    const auto points = static_cast<std::int64_t>(parameters_.edges.size() * counts.size());
    for (const auto edge : parameters_.edges) {
        const Volume v =
            parameters_.volume(edge, *std::max_element(counts.begin(), counts.end()), ranks);
        if (!product_of({v.cubes, edge, edge, edge, 8, v.variables, points, contenders()})) {
            return usage_error(
                fmt::format("--edges: with {} on {} the files would be larger than "
                            "8 EiB",
                            edge, count_of(ranks, "rank")));
        }
    }
    return {};
}

std::int64_t Libraries::most_bytes(int ranks, std::size_t contenders) const {
    std::int64_t most = 0;
    for (const auto edge : parameters_.edges) {
        for (const auto n : parameters_.processes_in_force(ranks)) {
            most = std::max(most, parameters_.volume(edge, n, ranks).bytes());
        }
    }
    return most * (parameters_.keep ? static_cast<std::int64_t>(contenders) : 1);
}

Result<Plan> Libraries::plan(const PlanInput& input) const {
    if (auto fits = check_processes(input.ranks); !fits) return fits.error();
    Table table({{"edge"}, {"processes"}, {"bytes a process"}, {"file"}, {"s"}});
    Json points = Json::array();
    std::int64_t moved = 0;
    std::int64_t per_process = 0;
    for (const auto edge : parameters_.edges) {
        for (const auto n : parameters_.processes_in_force(input.ranks)) {
            const Volume v = parameters_.volume(edge, n, input.ranks);
            const std::int64_t share =
                (v.cubes + n - 1) / n * v.cells() * 8 * v.variables;  // the largest
            per_process = std::max(per_process, share);
            moved += v.bytes();
            table.row({std::to_string(edge), std::to_string(n), std::to_string(share),
                       format_size(static_cast<double>(v.bytes())),
                       fmt::format("{:.2f}", static_cast<double>(v.bytes()) / input.rate)});
            points.push_back(Json{{"edge", edge},
                                  {"processes", n},
                                  {"bytes_per_process", share},
                                  {"bytes", v.bytes()}});
        }
    }
    const double passes =
        static_cast<double>(parameters_.repetitions * contenders()) * (parameters_.read ? 2 : 1);
    const double seconds = passes * static_cast<double>(moved) / input.rate;
    const std::int64_t most = most_bytes(input.ranks, static_cast<std::size_t>(contenders()));
    Plan plan;
    plan.text = fmt::format(
        "Plan of the library comparison with {}, {} scaling, at an assumed {} in all\n"
        "at most {} libraries with sets of hints, repetitions: {}; memory of a rank: {}; on "
        "storage at a time: {}\n"
        "expected duration: {}\n\n{}",
        count_of(input.ranks, "rank"), libraries::name(parameters_.scaling),
        format_rate(input.rate), contenders(), parameters_.repetitions,
        format_size(static_cast<double>(per_process)), format_size(static_cast<double>(most)),
        format_duration(seconds), table.text(2));
    plan.data = Json{{"benchmark", "libraries"},
                     {"ranks", input.ranks},
                     {"assumed_rate_bytes_per_second", input.rate},
                     {"contenders", contenders()},
                     {"bytes_on_storage", most},
                     {"memory_per_rank_bytes", per_process},
                     {"expected_seconds", seconds},
                     {"points", std::move(points)}};
    return plan;
}

Ending Libraries::run(Job& job) {
    Session& session = job.session;
    const int ranks = session.comm.size();
    if (auto fits = check_processes(ranks); !fits) return Ending::from(fits.error());
    Selection selection = select(session, parameters_, job.room);
    bool real_files = true;
    Target::Request request = request_of(parameters_);
    for (const auto& c : selection.contenders) {
        request.files.push_back(c.made->files(c.file, ranks));
        real_files = real_files && c.made->capabilities().real_files;
    }
    auto target = Target::prepare(session, real_files, std::move(request));
    if (!target) return Ending::from(target.error());
    const auto needed = static_cast<double>(most_bytes(ranks, selection.contenders.size()));
    if (auto fits = check_cap(job.session, *target, parameters_.directory, needed, "a file needs",
                              "use smaller --edges, fewer --processes or another directory");
        !fits) {
        return Ending::from(fits.error());
    }
    return run_on(job, selection, *target);
}

Ending Libraries::run_on(Job& job, Selection& selection, Target& target) {
    Session& session = job.session;
    const auto held = hold_memory(session, job.topology, parameters_.cache);
    if (!held) return Ending::from(held.error());
    Json extra;
    extra["libraries"] = describe(parameters_, selection, target.cap());
    announce(job, target, std::move(extra));
    const CleanUp clean_up(session, target);

    const auto records =
        make_record_view(session.results.recorder(), parameters_, job.topology.nodes);
    const auto console =
        make_console_view(session.console, parameters_, selection, session.results.path());
    Ending ending =
        Runner(job, parameters_, selection, target, {records.get(), console.get()}).run();
    for (auto& c : selection.contenders) {
        const FileSet files = c.made->files(c.file, session.comm.size());
        add(ending, target.remove_files(session, c.made->storage(), std::span(&files, 1)));
    }
    return ending;
}

}  // namespace

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Libraries>();
}

}  // namespace effio::libraries
