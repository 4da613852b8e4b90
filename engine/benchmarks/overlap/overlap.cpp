// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/overlap/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/overlap/runner.hpp"
#include "benchmarks/overlap/views.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "core/whole.hpp"
#include "frame/benchmark_with.hpp"
#include "frame/storage_options.hpp"
#include "frame/storage_run.hpp"
#include "parallel/system.hpp"

namespace effio::overlap {
namespace {

class Overlap : public BenchmarkWith<Parameters> {
  public:
    std::string_view name() const override { return "overlap"; }
    std::string_view purpose() const override {
        return "How much of the time of an operation hides behind a computation, and how much "
               "slower the computation gets: blocking, nonblocking MPI-IO, io_uring, a helper "
               "thread";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 2 effio-mpi overlap --dir /scratch/me\n"
               "      all methods, 64 KiB, 1 MiB and 16 MiB, during computations twice as long\n"
               "  mpiexec -n 2 effio-mpi overlap --poll 20 --methods nonblocking,thread\n"
               "      does testing for completion now and then help?\n"
               "  mpiexec -n 2 effio-mpi overlap --direct --work compute,memory --work-time 50ms\n"
               "      past the page cache, during 50 ms of computing in registers and in memory\n"
               "  effio-mpi overlap --backend null --backend-options transfer=10ms --work-time "
               "10ms\n"
               "      a known answer: the thread hides all of it, the blocking call nothing";
    }
    ResultInfo results() const override { return overlap::result_info(); }
    Result<Plan> plan(const PlanInput& input) const override;
    Status fits(int ranks) const override;
    std::vector<std::string> needed_directories() const override {
        if (is_model(parameters_.backend.name)) return {};
        return {parameters_.directory};
    }
    Ending run(Job& job) override;

  private:
    Result<std::int64_t> bytes_of_a_file(int ranks) const;
    Estimate estimate_of(const PlanInput& input, std::int64_t file_bytes) const;
    Ending run_on(Job& job, std::vector<MethodStorage> methods, StorageRun& run);
};

StorageNeeds needs_of(std::int64_t file_bytes, std::size_t methods) {
    return {static_cast<double>(file_bytes) * static_cast<double>(methods), "all methods need",
            "use a smaller --transfer or fewer --methods"};
}

Result<std::int64_t> Overlap::bytes_of_a_file(int ranks) const {
    std::int64_t sum = 0;
    for (const Bytes transfer : parameters_.transfers) sum += transfer.count;
    const auto methods = static_cast<std::int64_t>(parameters_.effective_methods.size());
    // What all repetitions move has to be countable, too.
    if (!product_of({sum, ranks, methods, parameters_.repetitions, 8})) {
        return usage_error(fmt::format("--transfer: with {} the files would be larger than 8 EiB",
                                       count_of(ranks, "rank")));
    }
    return sum * ranks;
}

/// Each operation is done alone and next to a computation, which is done alone as well.
Estimate Overlap::estimate_of(const PlanInput& input, std::int64_t file_bytes) const {
    const auto& p = parameters_;
    // Methods that were not named are left out where the system lacks them.
    const auto methods = [&p](const Assumed& assumed) {
        return assumed.early && !p.methods_given ? 1.0
                                                 : static_cast<double>(p.effective_methods.size());
    };
    const double at_once = static_cast<double>(file_bytes) * methods({});
    const auto one = [&](const Assumed& assumed) {
        Load load;
        for (const bool write : p.accesses()) {
            for (const Bytes transfer : p.transfers) {
                const double bytes = static_cast<double>(transfer.count) * input.ranks;
                const double io = bytes / (assumed.speed * input.rate);
                const double work = work_seconds(
                    p.work_time ? std::optional(p.work_time->count) : std::nullopt, io);
                (write ? load.written : load.read) += 2 * bytes;
                load.seconds += 2 * (io + work);
            }
        }
        load = load.times(methods(assumed) * static_cast<double>(p.works.size()));
        load.on_storage = at_once;
        load.files = methods({});
        return load;
    };
    Load warm_up;
    warm_up.written = (p.writes() ? 2 : 1) * at_once;
    warm_up.read = p.reads() ? at_once : 0;
    warm_up.seconds = (warm_up.written + warm_up.read) / input.rate;
    Estimate estimate({p.repetitions, "repetition", &p.until_ci}, one, warm_up);
    estimate.assume_storage(input.rate);
    return estimate;
}

namespace {

/// An operation at one size, for programs.
struct PlannedOperation {
    const char* access;
    std::int64_t transfer;
    std::int64_t bytes;
    double io_seconds;
    double work_seconds;
};

const Fields<PlannedOperation>& planned_operation_fields() {
    using P = PlannedOperation;
    static const Fields<P> fields{
        {"access", Unit::word, "write or read", [](const P& p) { return std::string(p.access); }},
        {"transfer_bytes", Unit::bytes, "of a rank", &P::transfer},
        {"bytes", Unit::bytes, "of all ranks", &P::bytes},
        {"io_seconds", Unit::seconds, "of the operation alone", &P::io_seconds},
        {"work_seconds", Unit::seconds, "of the computation alone", &P::work_seconds}};
    return fields;
}

}  // namespace

Result<Plan> Overlap::plan(const PlanInput& input) const {
    const auto file = bytes_of_a_file(input.ranks);
    if (!file) return file.error();
    const auto& p = parameters_;
    Table table({{"access", Table::Align::left},
                 {"transfer"},
                 {"bytes of an operation, all ranks"},
                 {"I/O alone s"},
                 {"computation s"},
                 {"cell s"}});
    const auto methods = static_cast<std::int64_t>(p.effective_methods.size());
    std::vector<PlannedOperation> operations;
    for (const bool write : p.accesses()) {
        for (const Bytes transfer : p.transfers) {
            const auto bytes = transfer.count * input.ranks;
            const double io = static_cast<double>(bytes) / input.rate;
            const double work =
                work_seconds(p.work_time ? std::optional(p.work_time->count) : std::nullopt, io);
            const double cell = 2 * (io + work);
            table.row({write ? "write" : "read", shown_size(transfer), std::to_string(bytes),
                       fmt::format("{:.4f}", io), fmt::format("{:.4f}", work),
                       fmt::format("{:.4f}", cell)});
            operations.push_back({write ? "write" : "read", transfer.count, bytes, io, work});
        }
    }
    Estimate estimate = estimate_of(input, *file);
    std::vector<std::string> names;
    std::string text;
    for (const Method method : p.effective_methods) {
        names.emplace_back(overlap::name(method));
        text += fmt::format("{}{}", text.empty() ? "" : ", ", overlap::name(method));
    }
    const std::int64_t all = *file * methods;
    Plan plan;
    plan.text = fmt::format(
        "Plan of overlap with {}, at an assumed {} in all\n"
        "methods: {} (those that the run finds missing are left out); {}\n"
        "{}\n{}",
        count_of(input.ranks, "rank"), format_rate(input.rate), text, estimate.repetitions(),
        estimate.text(), table.text(2));
    plan.facts = {
        {"benchmark", Unit::word, "its name", std::string("overlap")},
        {"ranks", Unit::count, "of the run", input.ranks},
        {"assumed_rate_bytes_per_second", Unit::bytes_per_second, "of the storage", input.rate},
        {"methods", Unit::word, "that are compared", names},
        {"bytes_on_storage", Unit::bytes, "the most at any one time", all},
        {"repetitions", Unit::count, "at most", p.repetitions},
        {"expected_seconds", Unit::seconds, "at the assumed rate", estimate.expected().seconds},
        {"cells", planned_operation_fields(), "operations of each method", operations}};
    plan.estimate = std::move(estimate);
    return plan;
}

Status Overlap::fits(int ranks) const {
    const auto file = bytes_of_a_file(ranks);
    if (!file) return file.error();
    // Only the run finds out which of the methods are missing.
    return check_given_cap(
        parameters_.max_bytes, !is_model(parameters_.backend.name),
        needs_of(*file, parameters_.methods_given ? parameters_.effective_methods.size()
                                                  : std::size_t{1}));
}

Ending Overlap::run(Job& job) {
    Session& session = job.session;
    const int ranks = session.comm.size();
    const auto file = bytes_of_a_file(ranks);
    if (!file) return Ending::from(file.error());
    std::vector<MethodStorage> methods;
    std::vector<Method> able;
    for (const Method method : parameters_.effective_methods) {
        const BackendChoice choice = parameters_.backend_of(method);
        auto storage = make_storage(session, choice, job.room);
        const bool queues = storage->capabilities().queues;
        if (method == Method::nonblocking && !queues) {
            const std::string why =
                fmt::format("{}: backend {} has no transfers that continue by themselves",
                            overlap::name(method), choice.name);
            if (parameters_.methods_given) return Ending::from(usage_error("--methods " + why));
            parameters_.left_out.push_back(why);
            continue;
        }
        able.push_back(method);
        FileSet files;
        files.stem = fmt::format("overlap_{}", overlap::name(method));
        methods.push_back({method, std::move(storage), files, {}, !parameters_.methods_given});
    }
    parameters_.effective_methods = able;
    Target::Request request = request_of(parameters_);
    for (const auto& one : methods) request.files.push_back(one.files);
    const StorageNeeds needs = needs_of(*file, methods.size());
    auto run = StorageRun::begin(job, std::move(request), !is_model(parameters_.backend.name),
                                 parameters_.cache, needs);
    if (!run) return Ending::from(run.error());
    return run_on(job, std::move(methods), *run);
}

Ending Overlap::run_on(Job& job, std::vector<MethodStorage> methods, StorageRun& run) {
    Session& session = job.session;
    std::vector<Work> works;
    works.reserve(parameters_.works.size());
    for (const WorkKind kind : parameters_.works) {
        works.emplace_back(session, kind, parameters_.work_memory.count);
        works.back().calibrate();
    }
    Json extra;
    extra["overlap"] = describe(methods, works, parameters_.left_out, run.target().cap());
    run.announce(job, std::move(extra));

    const auto records = make_record_view(session.results.recorder());
    const auto console = make_console_view(session.console, parameters_, session.results.path());
    const Json system = describe_system(session.comm, job.topology);  // the root's
    if (session.comm.is_root() && !session.clock.is_virtual() &&
        system.at("cpu").at("usable_by_root_rank") == 1) {
        session.console.print(
            "rank 0 may use one processor only, so its helpers have none: start with "
            "--bind-to none or with more processors a rank to see what they can do\n");
    }
    const auto plain = make_storage(session, parameters_.backend, job.room);
    Runner runner(job, parameters_, run.target(), std::move(methods), works,
                  {records.get(), console.get()});
    // All that was declared is removed: also what a method made that was then left out.
    return run.end(session, *plain, runner.run());
}

}  // namespace

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Overlap>();
}

}  // namespace effio::overlap
