// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/ior.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <limits>

#include "benchmarks/ior/files.hpp"
#include "benchmarks/ior/plan.hpp"
#include "benchmarks/ior/runner.hpp"
#include "benchmarks/ior/views.hpp"
#include "parallel/system.hpp"

namespace effio::ior {
namespace {

/// Collective: the hint rules, read by the root.
Result<HintRules> read_hints(const Session& session, const Parameters& p, int ranks) {
    if (!p.storage.hints_file) return HintRules{};
    std::string text;
    std::string failure;
    if (session.comm.is_root()) {
        auto read = HintRules::read_file(*p.storage.hints_file);
        if (read) {
            text = *read;
        } else {
            failure = read.error().text();
        }
    }
    session.comm.broadcast(failure);
    if (!failure.empty()) return usage_error(failure);
    session.comm.broadcast(text);
    HintVocabulary words;
    words.processes = {ranks};
    for (const Access a : {Access::write, Access::read}) words.accesses.emplace_back(name(a));
    for (const Files f : {Files::shared, Files::per_process}) words.patterns.emplace_back(name(f));
    for (const Bytes transfer : p.transfers) words.chunks.push_back(transfer.count);
    words.max_key_length = MPI_MAX_INFO_KEY;
    words.max_value_length = MPI_MAX_INFO_VAL - 1;
    return HintRules::parse(text, *p.storage.hints_file, words);
}

Status check_capabilities(const Parameters& p, const Storage& storage) {
    const Capabilities can = storage.capabilities();
    return require(storage, {{can.collective || !p.collective, "collective calls"},
                             {can.views || p.placement_kind() == Placement::offset, "views"},
                             {can.stores_data || p.verify.empty(), "reading back what was written"},
                             {can.threads || p.threads == 1, "files of threads of their own"}});
}

/// Memory that is touched and kept, so that the page cache cannot have it.
Result<Buffer> hold_memory(const Session& session, const Parameters& p, const Topology& topology) {
    if (!p.hold_memory) return Buffer{};
    const std::int64_t available = find_memory().available_bytes;
    Outcome mine;
    if (p.hold_memory->count > available) {
        mine.fail(environment_error(
            "hold memory", fmt::format("--hold-memory {}: only {} are available on this node",
                                       format_exact(*p.hold_memory),
                                       format_size(static_cast<double>(available)))));
    }
    if (mine.error) return session.signed_error(*mine.error);
    return Buffer(static_cast<std::size_t>(p.hold_memory->count / topology.ranks_on_node));
}

class Ior : public Benchmark {
  public:
    explicit Ior(std::vector<Test> tests) : tests_(std::move(tests)) {}

    std::string_view name() const override { return "ior"; }
    std::string_view purpose() const override {
        return "Bulk reads and writes in blocks and segments (IOR): shared file or file per "
               "process, sequential or random, stonewalled or until the rate is steady";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 4 effio-mpi ior --dir /scratch/me --block 1GiB\n"
               "      write and read 4 GiB in one shared file\n"
               "  mpiexec -n 64 effio-mpi ior --files per-process --block 4TiB --transfer 4MiB \\\n"
               "      --phases write --steady --stonewall 5min --repetitions 10 --max-bytes "
               "100TiB\n"
               "      until the rate is steady, at most five minutes, ten times\n"
               "  mpiexec -n 64 effio-mpi ior --transfer 4KiB,64KiB,1MiB --verify write,read\n"
               "      the rate by transfer size, every byte checked";
    }
    void declare(OptionTable& table) override { parameters_.declare(table); }
    Status check() override {
        for (auto& test : tests_) {
            if (auto good = test.parameters.check(); !good) return good;
        }
        return parameters_.check();
    }
    bool virtual_time() const override { return parameters_.storage.virtual_time(); }
    Result<Plan> plan(const PlanInput& input) const override {
        return make_plan(parameters_, input);
    }
    Ending run(Job& job) override;

  private:
    Ending run_test(Job& job, const Parameters& p, Observer* view, bool announces);

    Parameters parameters_;
    std::vector<Test> tests_;
};

Ending Ior::run(Job& job) {
    if (tests_.empty()) return run_test(job, parameters_, nullptr, true);
    Ending all;
    bool first = true;
    for (const auto& test : tests_) {
        Ending ending = run_test(job, test.parameters, test.view.get(), first);
        first = false;
        // The graver one is told; what stops a test stops those after it.
        if (graver(all.status, ending.status) != all.status) all = ending;
        if (ending.status != ExitCode::done && ending.status != ExitCode::data_errors) break;
    }
    return all;
}

Ending Ior::run_test(Job& job, const Parameters& p, Observer* view, bool announces) {
    Session& session = job.session;
    const int world = session.comm.size();
    const auto ranks = static_cast<int>(p.ranks.value_or(world));
    if (ranks > world) {
        return Ending::from(
            usage_error(fmt::format("--ranks {} are more than the {} of this run", ranks, world)));
    }
    const double total = static_cast<double>(ranks * p.threads) * static_cast<double>(p.segments) *
                         static_cast<double>(p.block.count);
    if (total > static_cast<double>(std::numeric_limits<std::int64_t>::max())) {
        return Ending::from(usage_error("the files would be larger than 8 EiB"));
    }
    const auto hints = read_hints(session, p, ranks);
    if (!hints) return Ending::from(hints.error());
    const auto storage = make_storage(session, p.storage.backend, job.room);
    if (auto can = check_capabilities(p, *storage); !can) return Ending::from(can.error());
    const bool member = session.comm.rank() < ranks;
    const auto comm = session.comm.split(member ? std::optional<int>(0) : std::nullopt);
    std::optional<Topology> topology;
    if (comm) topology = find_topology(*comm);

    const FileNames names(p, ranks * p.threads);
    Target::Request request;
    request.directory = p.storage.directory;
    request.more_directories = p.more_dirs;
    request.files = names.sets();
    request.overwrite = p.storage.overwrite;
    request.use_existing = p.use_existing;
    request.only_read = !p.writes();
    request.keep = p.storage.keep;
    request.max_bytes = p.storage.max_bytes;
    auto target = Target::prepare(session, *storage, std::move(request));
    if (!target) return Ending::from(target.error());

    Setup setup;
    setup.parameters = p;
    setup.ranks = ranks;
    setup.backend = p.storage.backend.name;
    setup.path = names.path(*target, 0, 0);
    setup.cap_bytes = target->cap().bytes;
    setup.cap_reason = target->cap().why;
    std::array<int, 3> nodes{1, 1, 1};
    if (topology) {
        nodes = {topology->nodes, topology->min_ranks_on_node, topology->max_ranks_on_node};
    }
    session.comm.broadcast(std::span<int>(nodes));
    setup.nodes = nodes[0];
    setup.min_ranks_on_node = nodes[1];
    setup.max_ranks_on_node = nodes[2];
    // What a stonewall cuts off cannot be foreseen; what is written anyway must fit.
    const double lying =
        total *
        (p.file_each_repetition && p.storage.keep ? static_cast<double>(p.repetitions) : 1.0);
    if (p.writes() && p.stonewall.count <= 0 && !p.steady && p.max_transfers == 0 &&
        lying > static_cast<double>(setup.cap_bytes)) {
        return Ending::from(io_error(
            "plan the run", p.storage.directory,
            fmt::format("{} are to be written, but the cap is {} ({}); use a smaller --block, "
                        "--stonewall, another directory or --max-bytes",
                        format_size(lying), format_size(static_cast<double>(setup.cap_bytes)),
                        setup.cap_reason)));
    }

    if (announces) {
        Json extra;
        extra["ior"] = describe(setup);
        extra["backend"] = Json{{"name", storage->name()}, {"settings", storage->describe()}};
        extra["file_system"] =
            target->file_system() ? target->file_system()->to_json() : Json(nullptr);
        extra["manifest"] = target->manifest();
        job.announce(std::move(extra));
    }
    session.clean_up = [&target] { target->remove_all_quietly(); };
    Ending ending;
    Outcome mine;
    if (auto made = target->make_own_directories(session); !made) return Ending::from(made.error());
    auto held = hold_memory(session, p, job.topology);
    if (!held) mine.fail(held.error());
    Agreed agreed = agree(session, session.comm, mine);
    std::int64_t errors = 0;
    if (!agreed.failed()) {
        std::unique_ptr<Observer> records = make_record_view(session.results.recorder());
        std::unique_ptr<Observer> table =
            make_console_view(session.console, session.results.path());
        std::vector<Observer*> observers{records.get(), table.get()};
        if (view != nullptr) observers.push_back(view);
        if (comm) {
            storage->set_active_ranks(ranks);
            Runner runner(session, *comm, *topology, setup, *storage, *target, names, *hints,
                          observers);
            mine = runner.run();
            errors = runner.result().errors;
        } else {
            Progress::Step step;
            step.title = "waiting for the ranks that take part";
            step.allowance_seconds = 1e9;
            session.progress.begin(step);
        }
        agreed = agree(session, session.comm, mine);
    }
    session.comm.broadcast(errors);
    if (agreed.failed()) {
        ending = Ending::from(*agreed.error);
    } else if (agreed.interrupted) {
        ending.status = ExitCode::interrupted;
        ending.reason = "stopped by a signal; the phases before it are complete";
    } else if (errors > 0) {
        ending.status = ExitCode::data_errors;
        ending.reason = fmt::format("{} errors in the data read back", errors);
    }
    const bool kept = p.keep_on_errors && ending.status == ExitCode::data_errors;
    if (kept) ending.detail["kept"] = "the data files, because of --keep-on-errors";
    if (auto removed = kept ? Status() : target->remove_files(session, *storage); !removed) {
        ending.errors.push_back(removed.error());
        ending.status = graver(ending.status, ExitCode::io_error);
        if (ending.reason.empty()) ending.reason = removed.error().text();
    }
    session.clean_up = [] {};
    return ending;
}

}  // namespace

std::unique_ptr<Benchmark> make_benchmark(std::vector<Test> tests) {
    return std::make_unique<Ior>(std::move(tests));
}

}  // namespace effio::ior
