// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/libraries/libraries.hpp"

#include <fmt/format.h>

#include "benchmarks/libraries/views.hpp"
#include "core/table.hpp"
#include "frame/study/study.hpp"

namespace effio::libraries {
namespace {

class Libraries : public study::StudyBenchmark<Parameters> {
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
               "      your own set\n"
               "  effio-mpi libraries --edges 96,200 --plan --plan-ranks 256";
    }
    Result<Plan> plan(const PlanInput& input) const override;
    std::vector<std::string> needed_directories() const override {
        if (is_model(parameters_.libraries.front())) return {};
        return {parameters_.storage.directory};
    }
    Ending run(Job& job) override;

  protected:
    Result<study::Definition> define(int ranks) const override {
        return libraries::define(parameters_, select(parameters_, nullptr), ranks);
    }
    void add_figures(ResultInfo& info) const override { libraries::add_figures(info); }
};

class View : public study::Observer {
  public:
    View(Session& session, const Parameters& parameters)
        : session_(session), parameters_(parameters) {}
    void end(const std::vector<study::Mean>& means, const std::vector<study::Flow>&) override {
        const Comparison all(means);
        record(session_.results.recorder(), all, parameters_);
        print(session_.console, all, parameters_);
    }

  private:
    Session& session_;
    const Parameters& parameters_;
};

/// A number of processes with an edge, for programs.
struct PlannedPoint {
    std::int64_t edge;
    std::int64_t processes;
    std::int64_t share;  ///< bytes of a process
    std::int64_t bytes;
};

const Fields<PlannedPoint>& planned_point_fields() {
    using P = PlannedPoint;
    static const Fields<P> fields{
        {"edge", Unit::count, "elements along each direction", &P::edge},
        {"processes", Unit::count, "that take part", &P::processes},
        {"bytes_per_process", Unit::bytes, "the largest share", &P::share},
        {"bytes", Unit::bytes, "of all processes", &P::bytes}};
    return fields;
}

/// As the frame's, by points: at each of them all methods move the same.
Result<Plan> Libraries::plan(const PlanInput& input) const {
    auto found = StudyBenchmark::plan(input);
    if (!found) return found;
    Plan& plan = *found;
    const auto methods = select(parameters_, nullptr).methods.size();
    Table table({{"edge"}, {"processes"}, {"bytes a process"}, {"file"}, {"s"}});
    std::vector<PlannedPoint> points;
    for (const auto edge : parameters_.edges) {
        for (const auto n : parameters_.processes_in_force(input.ranks)) {
            const Volume v = parameters_.volume(edge, n, input.ranks);
            const std::int64_t share = addresses_of(v, static_cast<int>(n) - 1).bytes();
            const auto bytes = static_cast<double>(v.bytes());
            table.row({std::to_string(edge), std::to_string(n), std::to_string(share),
                       format_size(bytes), fmt::format("{:.2f}", bytes / input.rate)});
            points.push_back({edge, n, share, v.bytes()});
        }
    }
    plan.text = fmt::format(
        "Plan of the library comparison with {}, {} scaling, at an assumed {} in all\n"
        "at most {} libraries with sets of hints, repetitions: {}; memory of a rank: {}\n{}\n{}",
        count_of(input.ranks, "rank"), libraries::name(parameters_.scaling),
        format_rate(input.rate), methods, parameters_.repetitions,
        format_size(plan["memory_per_rank_bytes"].get<double>()), plan.estimate.text(),
        table.text(2));
    plan.facts.emplace_back("contenders", Unit::count, "libraries with sets of hints", methods);
    plan.facts.emplace_back("points", planned_point_fields(), "that are measured", points);
    return found;
}

Ending Libraries::run(Job& job) {
    const auto definition =
        libraries::define(parameters_, select(parameters_, &job), job.session.comm.size());
    if (!definition) return Ending::from(definition.error());
    View view(job.session, parameters_);
    return study::run(job, *definition, parameters_, &view);
}

}  // namespace

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Libraries>();
}

}  // namespace effio::libraries
