// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/b_eff_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "benchmarks/b_eff_io/parameters.hpp"
#include "benchmarks/b_eff_io/plan.hpp"
#include "benchmarks/b_eff_io/runner.hpp"
#include "benchmarks/b_eff_io/views.hpp"
#include "frame/benchmark_with.hpp"
#include "frame/storage_run.hpp"
#include "parallel/local_time.hpp"
#include "storage/probe.hpp"

namespace effio::b_eff_io {
namespace {

constexpr const char* probe_file = "b_eff_io_data_probe";

StorageNeeds needs_of(const std::vector<std::int64_t>& partitions, std::int64_t lmax) {
    StorageNeeds needs{0, "one call of every row needs",
                       "use fewer ranks or less --memory-per-rank"};
    for (const auto n : partitions) {
        needs.bytes += static_cast<double>(cap_shares(row_table(lmax), n, 0).least);
    }
    return needs;
}

class BeffIo : public BenchmarkWith<Parameters> {
  public:
    explicit BeffIo(FrontEnd front_end) : front_end_(std::move(front_end)) {}

    std::string_view name() const override { return "b-eff-io"; }
    std::string_view purpose() const override {
        return "Effective file-I/O bandwidth (b_eff_io 2.1): five access patterns, eight chunk "
               "sizes, write, rewrite and read, averaged into one number";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 4 effio-mpi b-eff-io --dir /scratch/me\n"
               "      a quick check in about a minute, of the disk and not the memory (NOT VALID)\n"
               "  mpiexec -n 64 effio-mpi b-eff-io --time 30min --partitions 64 --dir /scratch/me\n"
               "      an official run\n"
               "  mpiexec -n 64 effio-mpi b-eff-io --until-ci 5% --partitions 64 --dir "
               "/scratch/me\n"
               "      rounds of a minute until b_eff_io is known within 5 %, at most 10 minutes\n"
               "  effio-mpi b-eff-io --plan --plan-ranks 1024 --plan-rate 10GB/s\n"
               "      what it would do, without doing it";
    }
    ResultInfo results() const override { return b_eff_io::result_info(); }
    Result<Plan> plan(const PlanInput& input) const override {
        return make_plan(parameters_, input);
    }
    std::vector<std::string> needed_directories() const override {
        return parameters_.storage.needed_directories();
    }
    Status fits(int ranks) const override;
    Ending run(Job& job) override;

  private:
    Result<Setup> set_up(Job& job) const;

    FrontEnd front_end_;
};

Result<Setup> BeffIo::set_up(Job& job) const {
    const Comm& comm = job.session.comm;
    Setup s;
    s.parameters = parameters_;
    s.partitions =
        parameters_.partitions.empty() ? default_partitions(comm.size()) : parameters_.partitions;
    for (const auto n : s.partitions) {
        if (n > comm.size()) {
            return usage_error(fmt::format("--partitions: {} is more than the {} of this run", n,
                                           count_of(comm.size(), "rank")));
        }
    }
    const std::int64_t per_rank = parameters_.memory_per_rank ? parameters_.memory_per_rank->count
                                                              : memory_per_rank(comm, job.topology);
    const std::int64_t total =
        comm.sum(job.topology.is_node_leader() ? find_memory().total_bytes : std::int64_t{0});
    s.memory_mib = per_rank / MiB;
    s.total_memory_mib = (parameters_.total_memory ? parameters_.total_memory->count : total) / MiB;
    s.lmax = lmax_bytes(s.memory_mib);
    s.budget = time_budget(parameters_.time.count / static_cast<double>(parameters_.rounds),
                           s.partitions.size(), parameters_.rewrite);
    s.uname = find_uname();
    s.date = now_as_ctime();
    s.nodes = job.topology.nodes;
    return s;
}

Status BeffIo::fits(int ranks) const {
    const auto partitions =
        parameters_.partitions.empty() ? default_partitions(ranks) : parameters_.partitions;
    // Without --memory-per-rank only the run knows the largest chunk; 0 gives the smallest one.
    const std::int64_t memory =
        parameters_.memory_per_rank ? parameters_.memory_per_rank->count : 0;
    return check_given_cap(parameters_.storage.max_bytes,
                           !is_model(parameters_.storage.backend.name),
                           needs_of(partitions, lmax_bytes(memory / MiB)));
}

Ending BeffIo::run(Job& job) {
    Session& session = job.session;
    auto setup = set_up(job);
    if (!setup) return Ending::from(setup.error());
    const auto hints =
        read_hint_rules(session, parameters_.storage, hint_vocabulary(setup->partitions));
    if (!hints) return Ending::from(hints.error());

    const auto storage = make_storage(session, parameters_.storage.backend, job.room);
    const Capabilities can = storage->capabilities();
    if (auto met = require(*storage, {{can.collective, "collective calls"},
                                      {can.views, "strided views"},
                                      {can.spaced || !parameters_.memory.given(), spaced_calls},
                                      {can.stores_data,
                                       "reading back what was written (the "
                                       "definition checks data)"}});
        !met) {
        return Ending::from(met.error());
    }

    Target::Request request = request_of(parameters_.storage);
    for (std::size_t i = 0; i < setup->partitions.size(); ++i) {
        for (auto& set : files_of(i, setup->partitions[i])) request.files.push_back(std::move(set));
    }
    request.files.push_back({probe_file, 1, false});
    auto run = StorageRun::begin(job, std::move(request), can.real_files, parameters_.storage.cache,
                                 needs_of(setup->partitions, setup->lmax));
    if (!run) return Ending::from(run.error());
    const Target& target = run->target();
    setup->cap_bytes = target.cap().bytes;
    setup->cap_reason = target.cap().why;

    Json extra;
    extra["b-eff-io"] = describe(*setup);
    extra["backend"] = describe_backend(*storage);
    run->announce(job, std::move(extra));
    if (parameters_.no_shared_pointer) {
        setup->shared_pointer = false;
        setup->shared_pointer_note = "individual pointers were requested";
    } else {
        Progress::Step step;
        step.title = "probe the shared file pointer";
        step.path = target.path(probe_file);
        session.progress.begin(step);
        const auto probed = probe_shared_pointer(session, *storage, target.path(probe_file));
        setup->shared_pointer = probed.works;
        setup->shared_pointer_note = probed.note;
    }

    std::unique_ptr<Observer> records = make_record_view(session.results.recorder());
    std::unique_ptr<Observer> table = make_console_view(session.console, session.results.path());
    const std::vector<Observer*> observers{records.get(), table.get(), front_end_.view.get()};
    const auto warn = front_end_.warn ? front_end_.warn : [](const std::string& message) {
        std::fputs((message + "\n").c_str(), stderr);
    };
    return run->end(session, *storage,
                    Runner(job, *setup, *storage, target, *hints, observers, warn).run());
}

}  // namespace

HintVocabulary hint_vocabulary(const std::vector<std::int64_t>& partitions) {
    HintVocabulary words = vocabulary_of_mpi();
    words.processes = partitions;
    for (const Access a : all_accesses) words.accesses.emplace_back(name(a));
    for (const Type t : all_types) words.patterns.emplace_back(name(t));
    words.chunks = {0, 1024, 1032, 32768, 32776, 1048576, 1048584};
    return words;
}

std::unique_ptr<Benchmark> make_benchmark(FrontEnd front_end) {
    return std::make_unique<BeffIo>(std::move(front_end));
}

}  // namespace effio::b_eff_io
