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
#include "storage/probe.hpp"

namespace effio::b_eff_io {
namespace {

constexpr const char* probe_file = "b_eff_io_data_probe";

std::string now_as_ctime() {
    const std::time_t now = std::time(nullptr);
    std::array<char, 32> text{};
    ctime_r(&now, text.data());
    return std::string(text.data()).substr(0, 24);
}

class BeffIo : public Benchmark {
  public:
    explicit BeffIo(FrontEnd front_end) : front_end_(std::move(front_end)) {}

    std::string_view name() const override { return "b-eff-io"; }
    std::string_view purpose() const override {
        return "Effective file-I/O bandwidth (b_eff_io 2.1): five access patterns, eight chunk "
               "sizes, write, rewrite and read, averaged into one number";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 4 effio-mpi b-eff-io --time 60s --dir /scratch/me\n"
               "      a first look in about a minute (NOT VALID officially: the time is short)\n"
               "  mpiexec -n 64 effio-mpi b-eff-io --time 30min --partitions 64 --dir /scratch/me\n"
               "      an official run\n"
               "  effio-mpi b-eff-io --plan --plan-ranks 1024 --plan-rate 10GB/s\n"
               "      what it would do, without doing it";
    }
    void declare(OptionTable& table) override { parameters_.declare(table); }
    Status check() override { return parameters_.check(); }
    bool virtual_time() const override { return parameters_.storage.virtual_time(); }
    Result<Plan> plan(const PlanInput& input) const override {
        return make_plan(parameters_, input);
    }
    std::vector<std::string> needed_directories() const override {
        return parameters_.storage.needed_directories();
    }
    Ending run(Job& job) override;

  private:
    Result<Setup> set_up(Job& job) const;

    Parameters parameters_;
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
    s.budget = time_budget(parameters_.time.count, s.partitions.size(), parameters_.rewrite);
    s.uname = find_uname();
    s.date = now_as_ctime();
    s.nodes = job.topology.nodes;
    return s;
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
                                      {can.stores_data,
                                       "reading back what was written (the "
                                       "definition checks data)"}});
        !met) {
        return Ending::from(met.error());
    }

    Target::Request request;
    request.directory = parameters_.storage.directory;
    request.overwrite = parameters_.storage.overwrite;
    request.keep = parameters_.storage.keep;
    request.max_bytes = parameters_.storage.max_bytes;
    for (std::size_t i = 0; i < setup->partitions.size(); ++i) {
        for (auto& set : files_of(i, setup->partitions[i])) request.files.push_back(std::move(set));
    }
    request.files.push_back({probe_file, 1, false});
    auto target = Target::prepare(session, *storage, std::move(request));
    if (!target) return Ending::from(target.error());
    setup->cap_bytes = target->cap().bytes;
    setup->cap_reason = target->cap().why;
    std::int64_t least = 0;
    for (const auto n : setup->partitions) {
        least += cap_shares(row_table(setup->lmax), n, 0).least;
    }
    if (least > setup->cap_bytes) {
        return Ending::from(io_error(
            "plan the run", parameters_.storage.directory,
            fmt::format("one call of every row needs {}, but the cap is {} ({}); use fewer ranks, "
                        "less --memory-per-rank or another directory",
                        format_size(static_cast<double>(least)),
                        format_size(static_cast<double>(setup->cap_bytes)), setup->cap_reason)));
    }

    // Before anything is created: what a killed run leaves is found through this line.
    Json extra;
    extra["b_eff_io"] = describe(*setup);
    extra["backend"] = Json{{"name", storage->name()}, {"settings", storage->describe()}};
    extra["file_system"] = target->file_system() ? target->file_system()->to_json() : Json(nullptr);
    extra["manifest"] = target->manifest();
    job.announce(std::move(extra));
    session.clean_up = [&target] { target->remove_all_quietly(); };
    if (parameters_.no_shared_pointer) {
        setup->shared_pointer = false;
        setup->shared_pointer_note = "individual pointers were asked for";
    } else {
        Progress::Step step;
        step.title = "probe the shared file pointer";
        session.progress.begin(step);
        const auto probed = probe_shared_pointer(session, *storage, target->path(probe_file));
        setup->shared_pointer = probed.works;
        setup->shared_pointer_note = probed.note;
    }

    std::unique_ptr<Observer> records = make_record_view(session.results.recorder());
    std::unique_ptr<Observer> table = make_console_view(session.console, session.results.path());
    std::vector<Observer*> observers{records.get(), table.get()};
    if (front_end_.view) observers.push_back(front_end_.view.get());
    const auto tell = front_end_.tell ? front_end_.tell : [](const std::string& message) {
        std::fputs((message + "\n").c_str(), stderr);
    };
    Ending ending = Runner(job, *setup, *storage, *target, *hints, observers, tell).run();
    if (auto removed = target->remove_files(session, *storage); !removed) {
        ending.errors.push_back(removed.error());
        ending.status = graver(ending.status, ExitCode::io_error);
        if (ending.reason.empty()) ending.reason = removed.error().text();
    }
    session.clean_up = [] {};
    return ending;
}

}  // namespace

HintVocabulary hint_vocabulary(const std::vector<std::int64_t>& partitions) {
    HintVocabulary words;
    words.processes = partitions;
    for (const Access a : all_accesses) words.accesses.emplace_back(name(a));
    for (const Type t : all_types) words.patterns.emplace_back(name(t));
    words.chunks = {0, 1024, 1032, 32768, 32776, 1048576, 1048584};
    // The constants count the closing null of C; Open MPI aborts the job on a longer key.
    words.max_key_length = MPI_MAX_INFO_KEY - 1;
    words.max_value_length = MPI_MAX_INFO_VAL - 1;
    return words;
}

std::unique_ptr<Benchmark> make_benchmark(FrontEnd front_end) {
    return std::make_unique<BeffIo>(std::move(front_end));
}

}  // namespace effio::b_eff_io
