// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/mdtest.hpp"

#include <fmt/format.h>

#include "benchmarks/mdtest/account.hpp"
#include "benchmarks/mdtest/runner.hpp"
#include "frame/benchmark_with.hpp"
#include "frame/count_file.hpp"
#include "frame/storage_run.hpp"
#include "parallel/from_root.hpp"
#include "parallel/system.hpp"
#include "storage/backends.hpp"

namespace effio::mdtest {
namespace {

class Mdtest : public BenchmarkWith<Parameters> {
  public:
    Mdtest(std::unique_ptr<Observer> view, std::unique_ptr<RankTable> rank_table)
        : view_(std::move(view)), rank_table_(std::move(rank_table)) {}

    std::string_view name() const override { return "mdtest"; }
    std::string_view purpose() const override {
        return "Metadata rates (mdtest): files and directories created, found, read and removed "
               "in a second, in one directory or a tree, shared or one for each rank";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 4 effio-mpi mdtest --items 10000 --things files --dir /scratch/me\n"
               "      four ranks in one directory\n"
               "  mpiexec -n 4 effio-mpi mdtest -b 3 -z 3 -u -I 900 -i 4 --dir /scratch/me\n"
               "      a tree of 40 directories for each rank, four times\n"
               "  mpiexec -n 4 effio-mpi mdtest -n 1000 --populate 1000000 -i 20 --things files\n"
               "      in a directory that holds a million files already\n"
               "  mpiexec -n 4 effio-mpi mdtest -n 1000 --also all --rank-shift 1\n"
               "      listing, links, attributes and renames too, each rank on files of another";
    }
    ResultInfo results() const override {
        ResultInfo info = mdtest::result_info();
        // A plan needs a number of items; its members do not depend on it.
        Parameters p = parameters_;
        p.items = 1;
        p.per_directory.reset();
        if (const auto plan = make_plan(p, {})) info.plan = info_of(*plan);
        return info;
    }
    Result<Plan> plan(const PlanInput& input) const override {
        return make_plan(parameters_, input);
    }
    Status fits(int ranks) const override {
        return check_given_cap(parameters_.storage.max_bytes,
                               !is_model(parameters_.storage.backend.name),
                               needs(parameters_.workload().items, ranks));
    }
    std::vector<std::string> needed_directories() const override;
    Ending run(Job& job) override;

  private:
    Result<Setup> set_up(const Job& job) const;
    Result<std::int64_t> files(const Session& session, const Workload& workload) const;
    Target::Request request(const Setup& setup, bool classic) const;
    StorageNeeds needs(std::int64_t files, int ranks) const;
    Status can(const Session& session, const Names& names) const;

    std::unique_ptr<Observer> view_;
    std::unique_ptr<RankTable> rank_table_;
};

/// Files of each rank: fewer than requested where a stonewall stopped their creation in a run
/// before.
Result<std::int64_t> Mdtest::files(const Session& session, const Workload& workload) const {
    if (!parameters_.stonewall_file || !parameters_.adopts()) return workload.items;
    auto count =
        from_root(session.comm, [&] { return read_count(*parameters_.stonewall_file, "items"); });
    if (count && *count > workload.items) {
        return usage_error(fmt::format("{}: contains {} for each rank, but the options allow {}",
                                       *parameters_.stonewall_file, count_of(*count, "file"),
                                       workload.items));
    }
    return count;
}

Result<Setup> Mdtest::set_up(const Job& job) const {
    const Comm& comm = job.session.comm;
    Setup s;
    s.parameters = parameters_;
    s.workload = parameters_.workload();
    s.ranks = comm.size();
    s.nodes = job.topology.nodes;
    s.host = job.session.host;
    s.date = utc_now();
    if (job.session.classic) {  // its text has them
        for (const double node : comm.gather(static_cast<double>(job.topology.node))) {
            s.node_of_rank.push_back(static_cast<int>(node));
        }
    }
    for (const auto n : parameters_.ranks) {
        if (n <= comm.size()) continue;
        return usage_error(fmt::format("--ranks: {} is more than the {} of this run", n,
                                       count_of(comm.size(), "rank")));
    }
    auto count = files(job.session, s.workload);
    if (!count) return std::move(count.error());
    s.files = *count;
    if (parameters_.items && s.workload.loops == 1 && *parameters_.items != s.workload.items) {
        s.notes.push_back(fmt::format("{} for each rank, not {}: the same number in each of {}",
                                      count_of(s.workload.items, "item"), *parameters_.items,
                                      count_of(s.workload.holders(), "directory")));
    }
    if (parameters_.rank_shift > 0 && comm.size() == 1) {
        s.notes.emplace_back("one rank alone cannot take over the items of another");
    } else if (parameters_.rank_shift > 0 && s.nodes == 1) {
        s.notes.emplace_back("all ranks are on one node: what they take over is in its caches");
    }
    return s;
}

std::vector<std::string> Mdtest::needed_directories() const {
    if (parameters_.make_directories) return {};
    auto directories = parameters_.storage.needed_directories();
    if (directories.empty()) return directories;
    directories.insert(directories.end(), parameters_.more_directories.begin(),
                       parameters_.more_directories.end());
    return directories;
}

Target::Request Mdtest::request(const Setup& setup, bool classic) const {
    const Workload& workload = setup.workload;
    const int ranks = setup.ranks;
    Target::Request r = request_of(parameters_.storage);
    // The original continues in an existing tree, as in jobs that are started again.
    r.replace_trees = classic;
    r.more_directories = parameters_.more_directories;
    const auto names = classic ? names_of_any_shape(parameters_, workload, ranks)
                               : names_made(parameters_, workload, ranks);
    for (const auto& base : parameters_.bases()) {
        r.trees.push_back({base, "test-dir.", {parameters_.iterations, workload.loops}, names});
    }
    r.adopt_trees = parameters_.adopts();
    r.make_directories = parameters_.make_directories;
    return r;
}

Status Mdtest::can(const Session& session, const Names& names) const {
    if (parameters_.after_phase && session.clock.is_virtual()) {
        return usage_error(fmt::format(
            "--run-after-phase: commands take real time, which {} does not see", names.name()));
    }
    const NamesCapabilities has = names.capabilities();
    return require(
        names.name(),
        {{has.keeps || !parameters_.verify, "reading back what was written"},
         {has.threads || parameters_.threads <= 1, "calls from several threads"},
         {has.real_files || !has.keeps || !parameters_.adopts(), "trees that outlive a run"},
         {has.real_files || !has.keeps || parameters_.ranks.size() < 2 || parameters_.removes(),
          "several --ranks without remove in --phases"}});
}

StorageNeeds Mdtest::needs(std::int64_t files, int ranks) const {
    constexpr std::int64_t block = 4096;  // of nearly all file systems
    StorageNeeds needs;
    // What a stonewall cuts off cannot be foreseen.
    if (parameters_.adopts() || parameters_.stonewall.count > 0) return needs;
    const std::int64_t each = (parameters_.write_bytes.count + block - 1) / block * block;
    needs.bytes = static_cast<double>(each) * static_cast<double>(files) *
                  (parameters_.shared_files ? 1 : ranks);
    needs.what = "the files would take";
    needs.advice = "use fewer --items or a smaller --write-bytes";
    return needs;
}

Ending Mdtest::run(Job& job) {
    Session& session = job.session;
    auto setup = set_up(job);
    if (!setup) return Ending::from(setup.error());
    const auto names = make_names(session, parameters_.storage.backend, job.room);
    if (auto met = can(session, *names); !met) return Ending::from(met.error());
    const bool real = names->capabilities().real_files;
    auto run = StorageRun::begin(job, request(*setup, session.classic), real,
                                 parameters_.storage.cache, needs(setup->files, setup->ranks));
    if (!run) return Ending::from(run.error());
    const Target& target = run->target();
    setup->file_system = target.file_system();

    Json extra;
    extra["mdtest"] = describe(*setup);
    extra["backend"] = describe_backend(*names);
    run->announce(job, std::move(extra));

    std::unique_ptr<Observer> records = make_record_view(session.results.recorder());
    std::unique_ptr<Observer> tables = make_console_view(session.console, session.results.path());
    const std::vector<Observer*> observers{records.get(), tables.get(), view_.get()};
    Ending ending;
    auto rank_csv =
        make_rank_csv(session.comm, parameters_.save_rank_details, rank_table_->header());
    if (!rank_csv) {
        ending = Ending::from(rank_csv.error());
    } else {
        ending = Runner(job, *setup, *names, target, observers, *rank_table_, std::move(*rank_csv))
                     .run();
    }

    // What phases did not remove: none was requested, or one failed, or a signal came before.
    Progress::Step step;
    step.title = "remove what is left";
    const std::int64_t each = 2 * setup->files + parameters_.populate;
    step.allowance_seconds = 10 + 1e-3 * static_cast<double>(each) * setup->ranks;
    session.progress.begin(step);
    return run->end(session, std::move(ending));
}

}  // namespace

std::unique_ptr<Benchmark> make_benchmark(std::unique_ptr<Observer> view,
                                          std::unique_ptr<RankTable> rank_table) {
    return std::make_unique<Mdtest>(std::move(view), std::move(rank_table));
}

}  // namespace effio::mdtest
