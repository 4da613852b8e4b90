// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/ior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "benchmarks/ior/files.hpp"
#include "benchmarks/ior/plan.hpp"
#include "benchmarks/ior/runner.hpp"
#include "benchmarks/ior/views.hpp"
#include "core/whole.hpp"
#include "frame/benchmark_with.hpp"
#include "frame/count_file.hpp"
#include "frame/storage_run.hpp"
#include "parallel/from_root.hpp"
#include "parallel/system.hpp"
#include "storage/mpi_settings.hpp"

namespace effio::ior {
namespace {

/// Collective: the hint rules, read by the root.
Result<HintRules> read_hints(const Session& session, const Parameters& p, int ranks) {
    HintVocabulary words = vocabulary_of_mpi();
    words.processes = {ranks};
    for (const Access a : phases_in_order) words.accesses.emplace_back(name(a));
    for (const Files f : {Files::shared, Files::per_process}) words.patterns.emplace_back(name(f));
    for (const Bytes transfer : p.transfers) words.chunks.push_back(transfer.count);
    return read_hint_rules(session, p.storage, words);
}

Status check_capabilities(const Parameters& p, const Storage& storage, int ranks) {
    const Capabilities can = storage.capabilities();
    const bool shared = p.files == Files::shared;
    const bool ordered = p.order == Order::sequential;
    auto able = require(
        storage,
        {{can.collective || !p.collective, "collective calls"},
         {can.views || p.placement == Placement::offset, "views"},
         {can.stores_data || p.verify.empty(), "reading back what was written"},
         {can.hints || (p.hints.empty() && !p.storage.hints_file), "hints (--hint, --hints)"},
         {can.threads || p.threads == 1, "separate files for threads"},
         {can.spaced || !p.memory.given(), spaced_calls},
         {can.queues || p.queue_depth == 1, "transfers that are queued (--queue-depth)"},
         {can.collective_queues || p.queue_depth == 1 || !p.collective,
          "collective calls that are queued (--collective with --queue-depth)"},
         {can.plain || p.segments > 0, "files that hold nothing (--segments 0)"},
         {can.preallocate || !p.preallocate, "reserving storage (--preallocate)"},
         {can.scattered || !p.collective || ordered,
          "collective calls of which each rank's is somewhere else (--order)"}});
    if (!able) return able;
    for (const Bytes transfer : p.transfers) {
        const std::int64_t parts = shared ? ranks * p.threads : 1;
        const Blocks blocks{transfer.count, p.block.count, p.segments, parts};
        if (auto good = storage.check(blocks); !good) return good;
    }
    return {};
}

/// Collective: the word for --tried of calls that need it, else empty.
Result<std::string> calls_to_be_tried(const Session& session, const Parameters& p,
                                      const Target& target) {
    std::string word;
    if (!p.collective || p.queue_depth == 1) return word;
    if (session.comm.is_root() && target.file_system()) {
        word = mpi_io_word(target.file_system()->type);
    }
    session.comm.broadcast(word);
    if (!p.tried || *p.tried == word) return word;
    return usage_error(
        fmt::format("--tried {}: here the nonblocking collective calls are those of {}, of which "
                    "that trial says nothing; run with --trial, in a separate job",
                    *p.tried, word));
}

class Ior : public BenchmarkWith<Parameters> {
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
    Status check() override {
        for (auto& test : tests_) {
            if (auto good = test.parameters.check(); !good) return good;
        }
        return parameters_.check();
    }
    ResultInfo results() const override { return ior::result_info(); }
    Result<Plan> plan(const PlanInput& input) const override {
        return make_plan(parameters_, input);
    }
    Status fits(int ranks) const override;
    std::vector<std::string> needed_directories() const override;
    Ending run(Job& job) override;

  private:
    Ending run_test(Job& job, Parameters p, Observer* view, bool announces);
    Status agree_on_input(const Session& session, Parameters& p) const;
    Json manifest(const Target& target, int ranks) const;
    bool made_earlier(const FileNames& names, const Parameters& p) const;

    std::vector<Test> tests_;
    /// Full names of file sets that tests of this run wrote and kept.
    std::set<std::string> made_;
    /// Files of the ranks' rates, by path; tests may share one. They are open on the root.
    std::map<std::string, std::optional<RankCsv>> rank_files_;
};

std::string full_pattern(const FileSet& set, const Parameters& p) {
    return (set.directory.empty() ? p.storage.directory : set.directory) + "/" + set.pattern();
}

StorageNeeds needs_of(const Parameters& p, std::int64_t total) {
    StorageNeeds needs{0, "the files need", "use a smaller --block or --stonewall", p.hold_memory};
    // What a stonewall leaves out is not known before the run; without one, all data must fit.
    if (p.writes() && p.stonewall.count <= 0 && !p.steady && p.max_transfers == 0) {
        needs.bytes =
            static_cast<double>(total) *
            (p.file_each_repetition && p.storage.keep ? static_cast<double>(p.repetitions) : 1.0);
    }
    return needs;
}

Status Ior::fits(int ranks) const {
    const auto check = [ranks](const Parameters& p) -> Status {
        // Only the run knows the memory of the nodes.
        if (p.times_memory) return {};
        const auto total =
            product_of({p.ranks.value_or(ranks), p.threads, p.segments, p.block.count});
        if (!total) return {};  // too large: the plan and the run report it
        return check_given_cap(p.storage.max_bytes, !is_model(p.storage.backend.name),
                               needs_of(p, *total));
    };
    if (tests_.empty()) return check(parameters_);
    for (const Test& test : tests_) {
        if (auto fits = check(test.parameters); !fits) return fits;
    }
    return {};
}

std::vector<std::string> Ior::needed_directories() const {
    auto directories = parameters_.storage.needed_directories();
    if (directories.empty()) return directories;
    directories.insert(directories.end(), parameters_.more_dirs.begin(),
                       parameters_.more_dirs.end());
    return directories;
}

Ending Ior::run(Job& job) {
    if (tests_.empty()) return run_test(job, parameters_, nullptr, true);
    Ending all;
    bool first = true;
    for (const auto& test : tests_) {
        Ending ending = run_test(job, test.parameters, test.view.get(), first);
        first = false;
        // The more severe one is reported; what stops a test stops those after it.
        if (worse(all.status, ending.status) != all.status) all = ending;
        if (ending.status != ExitCode::done && ending.status != ExitCode::data_errors) break;
    }
    return all;
}

/// Collective: what the root knows from files and its environment becomes known to all.
Status Ior::agree_on_input(const Session& session, Parameters& p) const {
    std::string hints = fmt::format("{}", fmt::join(p.hints, "\n"));
    session.comm.broadcast(hints);
    p.hints.clear();
    std::istringstream lines(hints);
    for (std::string line; std::getline(lines, line);) p.hints.push_back(line);
    // On a classic command line it comes from the environment.
    std::int64_t each = p.ranks_per_node.value_or(0);
    session.comm.broadcast(each);
    p.ranks_per_node = each > 0 ? std::optional(each) : std::nullopt;
    if (!p.count_file || p.writes()) return {};
    const auto count = from_root(session.comm, [&] { return read_count(*p.count_file, "calls"); });
    if (!count) return usage_error("--count-file: " + count.error().text());
    p.max_transfers = *count;
    return {};
}

/// The manifest of all tests, because what a killed run leaves is found through the first line
/// alone.
Json Ior::manifest(const Target& target, int ranks) const {
    Json manifest = target.manifest();
    for (std::size_t i = 1; i < tests_.size(); ++i) {
        const Parameters& p = tests_[i].parameters;
        if (!p.writes()) continue;
        const auto workers = p.ranks.value_or(ranks) * p.threads;
        const FileNames names(p, workers);
        for (const auto& set : names.sets()) {
            const bool keep = p.storage.keep || p.use_existing;
            Json entry = Target::describe(set, p.storage.directory, keep);
            auto& files = manifest["files"];
            if (std::find(files.begin(), files.end(), entry) == files.end()) {
                files.push_back(std::move(entry));
            }
        }
    }
    return manifest;
}

bool Ior::made_earlier(const FileNames& names, const Parameters& p) const {
    return std::all_of(names.sets().begin(), names.sets().end(),
                       [&](const FileSet& set) { return made_.contains(full_pattern(set, p)); });
}

Ending Ior::run_test(Job& job, Parameters p, Observer* view, bool announces) {
    Session& session = job.session;
    const int world = session.comm.size();
    if (auto agreed = agree_on_input(session, p); !agreed) return Ending::from(agreed.error());
    const auto ranks = static_cast<int>(p.ranks.value_or(world));
    if (ranks > world) {
        return Ending::from(usage_error(fmt::format("--ranks: {} is more than the {} of this run",
                                                    ranks, count_of(world, "rank"))));
    }
    const bool member = session.comm.rank() < ranks;
    const auto comm = session.comm.split(member ? std::optional<int>(0) : std::nullopt);
    std::optional<Topology> topology;
    std::array<int, 3> nodes{1, 1, 1};
    if (comm) {
        topology = find_topology(*comm);
        nodes = {topology->nodes, topology->min_ranks_on_node, topology->max_ranks_on_node};
    }
    session.comm.broadcast(std::span<int>(nodes));
    if (p.times_memory) {
        const auto smallest = static_cast<double>(session.comm.min(find_memory().total_bytes));
        auto fits = p.fill_memory(smallest * nodes[0], ranks * p.threads);
        if (!fits) return Ending::from(fits.error());
    }
    const auto total = product_of({ranks, p.threads, p.segments, p.block.count});
    if (!total) {
        return Ending::from(usage_error("the files would be larger than 8 EiB"));
    }
    const auto hints = read_hints(session, p, ranks);
    if (!hints) return Ending::from(hints.error());
    const auto storage = make_storage(session, p.storage.backend, job.room);
    if (auto can = check_capabilities(p, *storage, ranks); !can) return Ending::from(can.error());

    const FileNames names(p, ranks * p.threads, *storage);
    Target::Request request = request_of(p.storage);
    request.more_directories = p.more_dirs;
    request.files = names.sets();
    // What an earlier test of this run made and kept is ours.
    const bool ours = made_earlier(names, p);
    request.overwrite = p.storage.overwrite || ours;
    request.use_existing = p.use_existing && !ours;
    request.only_read = !p.writes() && !ours;
    const StorageNeeds needs = needs_of(p, *total);
    auto run = StorageRun::begin(job, std::move(request), storage->capabilities().real_files,
                                 p.storage.cache, needs);
    if (!run) return Ending::from(run.error());
    const Target& target = run->target();
    const auto tried = calls_to_be_tried(session, p, target);
    if (!tried) return Ending::from(tried.error());

    Setup setup;
    setup.parameters = p;
    setup.ranks = ranks;
    setup.backend = p.storage.backend.name;
    setup.backend_version = storage->version();
    setup.path = names.path(target, 0, 0);
    setup.cap_bytes = target.cap().bytes;
    setup.cap_reason = target.cap().why;
    setup.existing = target.first_existing();
    setup.file_system = target.file_system();
    setup.nodes = nodes[0];
    setup.min_ranks_on_node = nodes[1];
    setup.max_ranks_on_node = nodes[2];
    if (p.save_rank_details && !rank_files_.contains(*p.save_rank_details)) {
        auto file = make_rank_csv(session.comm, p.save_rank_details, rank_csv_header);
        if (!file) return Ending::from(file.error());
        rank_files_.emplace(*p.save_rank_details, std::move(*file));
    }

    const auto ready = from_root(session.comm, [&]() -> Result<std::int64_t> {
        if (view == nullptr) return 0;
        if (auto opened = view->ready(); !opened) return opened.error();
        return 0;
    });
    if (!ready) return Ending::from(ready.error());
    std::optional<Json> extra;
    if (announces) {
        extra = Json{{"ior", describe(setup)},
                     {"backend", describe_backend(*storage)},
                     {"manifest", manifest(target, world)}};
    }
    run->announce(job, std::move(extra));
    if (p.writes() && p.storage.keep && !p.use_existing) {
        for (const auto& set : names.sets()) made_.insert(full_pattern(set, p));
    }
    if (auto made = target.make_own_directories(session); !made) return Ending::from(made.error());
    std::unique_ptr<Observer> records = make_record_view(session.results.recorder());
    std::unique_ptr<Observer> table = make_console_view(session.console, session.results.path());
    Outcome saved;
    std::unique_ptr<Observer> rank_view;
    if (p.save_rank_details && session.comm.is_root()) {
        rank_view = make_rank_csv_view(*rank_files_.at(*p.save_rank_details), saved);
    }
    const std::vector<Observer*> observers{records.get(), table.get(), view, rank_view.get()};
    std::int64_t errors = 0;
    Outcome mine;
    if (comm) {
        storage->set_active_ranks(ranks);
        Runner runner(session, *comm, *topology, setup, *storage, target, names, *hints, observers);
        mine = runner.run();
        errors = runner.result().errors;
        if (saved.error) mine.fail(session.signed_error(*saved.error));
    } else {
        wait_for_others(session, "the ranks that take part");
    }
    const Agreed agreed = agree(session, session.comm, mine);
    session.comm.broadcast(errors);
    Ending ending = ending_of(agreed.error, agreed.interrupted, "phases", errors,
                              fmt::format("{} errors", errors));
    const bool kept = p.keep_on_errors && ending.status == ExitCode::data_errors;
    if (kept) ending.detail["kept"] = "the data files, because of --keep-on-errors";
    if (!kept) ending = run->end(session, *storage, std::move(ending));
    if (p.trial && ending.status == ExitCode::done) {
        ending.detail["tried"] = *tried;
        session.console.print(fmt::format(
            "MPI_File_iwrite_at_all and MPI_File_iread_at_all work here: --tried {}\n", *tried));
    }
    return ending;
}

}  // namespace

std::unique_ptr<Benchmark> make_benchmark(std::vector<Test> tests) {
    return std::make_unique<Ior>(std::move(tests));
}

}  // namespace effio::ior
