// SPDX-License-Identifier: BSD-3-Clause
// A study from start to end: storage, files and cap, the cells in their order, what is
// left.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "core/balanced_order.hpp"
#include "frame/observers.hpp"
#include "frame/run_loop.hpp"
#include "frame/storage_run.hpp"
#include "frame/study/groups.hpp"
#include "frame/study/measure.hpp"
#include "frame/study/study.hpp"
#include "frame/study/views.hpp"
#include "parallel/wait.hpp"
#include "storage/posix_calls.hpp"

namespace effio::study {
namespace {

/// Seconds that slow storage may need to open, move and close a small file.
constexpr double slowest_file = 0.1;

/// The mean rate that a pass counts in, as the records report it.
UntilCi::Subject subject_of(const Cell& cell, const Pass& pass) {
    Mean mean;
    mean.cell = &cell;
    mean.pass = pass;
    return {std::string(mean.figure_name()), mean.where(), "B/s", mean.where_text()};
}

class Runner {
  public:
    Runner(const StudyContext& context, const Definition& definition,
           const std::vector<Group>& groups, std::vector<Observer*> observers)
        : context_(context),
          session_(context.job.session),
          definition_(definition),
          groups_(groups),
          warm_up_(groups_of(definition.warm_up, context.backends, session_.comm.size())),
          notify_(session_, std::move(observers)),
          means_(definition),
          loop_(session_),
          until_ci_(context.options.until_ci, context.options.repetitions, session_.clock.now()) {
        if (session_.comm.is_root()) run_seed_ = std::random_device{}();
        session_.comm.broadcast(run_seed_);
    }

    Ending run() {
        notify_([this](Observer& o) { o.start(session_); });
        warming_up_ = true;
        for (const Group& group : warm_up_) {
            if (!run_group(group, 0)) break;
        }
        warming_up_ = false;
        loop_.repeat(session_.comm, until_ci_, [this](std::int64_t repetition) {
            choose();
            for (const auto turn : order(static_cast<std::size_t>(repetition))) {
                const Group& group = groups_[turn];
                const Cell& cell = group.cells.front();
                if (cell.past_cache && context_.past_cache(cell) == nullptr &&
                    !cell.past_cache->or_own_backend) {
                    continue;
                }
                if (!wanted(turn)) {
                    done_ += group.cells.size();
                    continue;
                }
                if (!run_group(group, repetition)) return;
            }
        });
        return end();
    }

  private:
    /// Which cells have a rate that --until-ci wants another value of.
    void choose() {
        std::vector<UntilCi::Subject> passes;
        for (const Cell& cell : definition_.cells) {
            for (const Pass& pass : cell.passes) passes.push_back(subject_of(cell, pass));
        }
        const auto each = until_ci_.wanted(session_.comm, passes);
        wanted_.assign(definition_.cells.size(), false);
        auto next = each.begin();
        for (std::size_t i = 0; i < wanted_.size(); ++i) {
            const auto end = next + std::ssize(definition_.cells[i].passes);
            wanted_[i] = std::find(next, end, 1) != end;
            next = end;
        }
    }

    bool wanted(const Cell& cell) const {
        return warming_up_ || wanted_[static_cast<std::size_t>(&cell - definition_.cells.data())];
    }
    bool wanted(const Group& group) const {
        return std::any_of(group.cells.begin(), group.cells.end(),
                           [this](const Cell& cell) { return wanted(cell); });
    }
    /// What is compared place by place is measured side by side, all of it or none.
    bool wanted(std::size_t turn) const {
        const std::size_t together = std::max<std::size_t>(definition_.compared, 1);
        const auto first =
            groups_.begin() + static_cast<std::ptrdiff_t>(turn / together * together);
        return std::any_of(first, first + static_cast<std::ptrdiff_t>(together),
                           [this](const Group& group) { return wanted(group); });
    }
    /// Others of its group need what it leaves in the files.
    static bool others_need(const Cell& cell) { return cell.writes() || cell.manner.unlinks; }

    /// Visits in all, as expected now.
    std::size_t visits() const {
        return definition_.warm_up.size() +
               definition_.cells.size() * static_cast<std::size_t>(until_ci_.expected());
    }

    /// The state of the caches depends on the order of the cells.
    std::vector<std::size_t> order(std::size_t repetition) const {
        std::vector<std::size_t> turns;
        const std::size_t n = groups_.size();
        if (definition_.compared == 0) {
            for (std::size_t i = 0; i < n; ++i) turns.push_back((i + repetition) % n);
            return turns;
        }
        const auto of_place = balanced_order(definition_.compared, repetition);
        for (std::size_t begin = 0; begin < n; begin += definition_.compared) {
            for (const auto i : of_place) turns.push_back(begin + i);
        }
        return turns;
    }

    bool go_on() { return loop_.inform(session_.comm); }

    bool run_group(const Group& group, std::int64_t repetition) {
        if (group.writes && !remove(group)) return false;
        // By name of the files. What an earlier run kept was written once.
        std::map<std::string, std::uint64_t> generations;
        if (!group.writes) {
            for (const auto& set : group.sets) generations[set.name] = 1;
        }
        // What a later run may read is the same in every run and repetition.
        const bool keep = context_.options.storage.keep && !warming_up_;
        const std::uint64_t data_run =
            group.writes && !keep ? mix64(run_seed_ + static_cast<std::uint64_t>(repetition)) : 0;
        for (const Cell& cell : group.cells) {
            if (!wanted(cell) && !others_need(cell)) {
                ++done_;
                continue;
            }
            std::uint64_t& generation = generations[cell.file];
            const Visit visit{cell,
                              group.files_of(cell),
                              repetition,
                              cell.writes() && generation == 0,
                              generation,
                              data_run,
                              next_passes(group.cells, cell),
                              !group.writes};
            if (cell.manner.settle > 0) wait_as_asked(session_, cell.manner.settle);
            if (!go_on()) return false;
            measure(visit);
            for (const auto& pass : cell.passes) {
                if (pass.writes()) ++generation;
            }
        }
        if (!go_on()) return false;
        return !group.writes || keep || remove(group);
    }

    bool remove(const Group& group) {
        Storage& storage = context_.backends.of(group.cells.front());
        for (const auto& set : group.sets) {
            remove_share(storage, set.files);
            for (const auto& files : set.more) remove_share(storage, files);
        }
        return go_on();
    }

    /// Each rank removes its share of the files.
    void remove_share(Storage& storage, const FileSet& files) {
        for (int file = session_.comm.rank(); file < files.count; file += session_.comm.size()) {
            if (auto removed = storage.remove(context_.target.path(files, file)); !removed) {
                loop_.keep({1, false, session_.signed_error(std::move(removed.error()))});
            }
            session_.progress.beat();
        }
    }

    /// Number of this rank in the row whose first ranks take part; the root's is the first in each
    /// of them.
    int place_of(Placing placing) const {
        const Topology& at = context_.job.topology;
        switch (placing) {
            case Placing::packed:
                return at.node * at.max_ranks_on_node + at.rank_on_node;
            case Placing::spread:
                return at.rank_on_node * at.nodes + at.node;
            case Placing::in_order:
                break;
        }
        return session_.comm.rank();
    }

    /// The communicator of a cell, kept as long as cells have the same ranks.
    CellRanks* ranks_of(const Cell& cell) {
        if (rank_count_ == cell.ranks && layout_ == cell.layout) {
            return cell_ranks_.get();
        }
        rank_count_ = cell.ranks;
        layout_ = cell.layout;
        cell_ranks_.reset();
        const Comm row = session_.comm.reordered(place_of(cell.layout.placing));
        const bool member = row.rank() < cell.ranks;
        auto comm = row.split(member ? std::optional<int>(0) : std::nullopt);
        if (!comm) return nullptr;
        if (cell.layout.grid.empty()) {
            cell_ranks_ = std::make_unique<CellRanks>(std::move(*comm));
        } else {
            auto grid = comm->cartesian(cell.layout.grid, false);
            cell_ranks_ = std::make_unique<CellRanks>(std::move(*grid), std::move(*comm));
        }
        return cell_ranks_.get();
    }

    void measure(const Visit& visit) {
        const Cell& cell = visit.cell;
        context_.backends.of(cell).set_active_ranks(
            cell.manner.at_a_time > 0 ? std::min(cell.manner.at_a_time, cell.ranks) : cell.ranks);
        Progress::Step step;
        step.path = context_.target.path(visit.files, 0);
        step.plan_done = static_cast<double>(done_++) / static_cast<double>(visits());
        step.ranks = cell.ranks;
        CellRanks* ranks = ranks_of(cell);
        if (ranks == nullptr) {
            wait_for_others(session_, count_of(cell.ranks, "rank"));
            return;
        }
        step.title = (warming_up_ ? "warm up, " : "") + cell.pattern;
        for (const auto& pass : cell.passes) step.title += " " + pass.name;
        for (const auto& axis : cell.axes)
            step.title += fmt::format(", {} {}", axis.title, axis.text);
        step.allowance_seconds =
            static_cast<double>(cell.passes.size() + 1) * cell.bytes_in_all() / slowest_storage +
            static_cast<double>(cell.visits_in_all()) * slowest_file;
        session_.progress.begin(step);
        Measure one(context_, *ranks, visit);
        const auto results = one.run();
        loop_.note(one.agreed());
        for (const auto& result : results) {
            if (result.valid) wrong_ += result.error_count;
        }
        report(results);
    }

    void report(const std::vector<PassResult>& results) {
        if (!session_.comm.is_root()) return;
        for (const auto& result : results) {
            if (warming_up_ && result.valid && result.error_count == 0) continue;
            if (!warming_up_) means_.add(result);
            if (!warming_up_ && result.valid) {
                until_ci_.add(subject_of(*result.cell, result.pass), result.rate());
            }
            notify_([&](Observer& o) { o.pass(result); });
        }
    }

    Ending end() {
        if (session_.comm.is_root()) {
            const auto means = means_.list();
            const auto flows = means_.flows(means);
            notify_([&](Observer& o) { o.end(means, flows); });
        }
        until_ci_.report(session_, definition_.name);
        const std::int64_t wrong = session_.comm.max(wrong_);
        const auto& [error, count, interrupted] = loop_.outcome();
        return ending_of(error, interrupted, "passes", wrong, count_of(wrong, "piece") + " wrong");
    }

    const StudyContext& context_;
    Session& session_;
    const Definition& definition_;
    const std::vector<Group>& groups_;
    const std::vector<Group> warm_up_;
    bool warming_up_ = false;
    std::vector<bool> wanted_;    ///< of the definition's cells
    std::uint64_t run_seed_ = 0;  ///< of data that no later run reads
    Observers<Observer> notify_;
    Means means_;
    RunLoop loop_;
    UntilCi until_ci_;
    std::unique_ptr<CellRanks> cell_ranks_;  ///< null on ranks that do not take part
    int rank_count_ = 0;
    RankLayout layout_;
    std::size_t done_ = 0;
    std::int64_t wrong_ = 0;
};

// What the backend of a cell has to have.

Status check_backend(const Arrays& /*data*/, const Cell& /*cell*/, const Backends& /*backends*/) {
    return {};
}

Status check_backend(const Streams& streams, const Cell& cell, const Backends& backends) {
    const Storage& storage = backends.of(cell);
    const auto blocks = streams.blocks(cell.ranks);
    if (auto can = blocks ? storage.check(*blocks) : Status(); !can) return can;
    return check_mover(storage, cell.collective);
}

Status check_backend(const Items& /*data*/, const Cell& cell, const Backends& backends) {
    const Storage& storage = backends.of(cell);
    if (storage.capabilities().plain) return {};
    return usage_error(
        fmt::format("backend {} holds arrays: this study has files of bytes", storage.name()));
}

Status check_backend(const Pieces& pieces, const Cell& cell, const Backends& backends) {
    const Storage& storage = backends.of(cell);
    const Addresses first = pieces.addresses(0);
    if (cell.content == Content::stamped && !first.aligned_to(StampedPattern::page)) {
        return usage_error("stamped data need pieces at multiples of 4KiB");
    }
    const bool holes = pieces.memory_spacing > 0 ||
                       std::any_of(cell.passes.begin(), cell.passes.end(),
                                   [](const Pass& p) { return p.access == Access::modify; });
    if (holes && cell.content != Content::words) {
        return usage_error("holes in memory and passes that modify need words");
    }
    if (storage.capabilities().plain) {
        return check_mover(storage, cell.collective, pieces.through);
    }
    const ArrayLibrary* arrays = backends.arrays_of(cell);
    if (arrays == nullptr || !arrays->capabilities().any_slab) {
        return usage_error(fmt::format(
            "backend {} holds each rank's blocks apart: a study shares its files otherwise",
            storage.name()));
    }
    if (!first.box() || pieces.through != Through::view || cell.content != Content::words) {
        return usage_error(
            fmt::format("backend {} holds arrays: this study can use it where each rank moves a "
                        "box of an array by one call",
                        storage.name()));
    }
    return {};
}

Status check_backends(const Backends& backends, const Definition& definition) {
    for (const auto& cell : definition.cells) {
        auto can = std::visit([&](const auto& data) { return check_backend(data, cell, backends); },
                              cell.data);
        if (!can) return can;
    }
    return {};
}

/// Collective. O_DIRECT for the cells that want it, if the file system takes it: tried with a file
/// of theirs.
std::unique_ptr<Storage> make_direct(Job& job, const Target& target, Storage& storage,
                                     const std::vector<Group>& groups) {
    const auto wants = std::find_if(groups.begin(), groups.end(), [](const Group& group) {
        return group.cells.front().past_cache.has_value();
    });
    if (wants == groups.end()) return nullptr;
    std::int64_t takes = 0;
    if (job.session.comm.is_root()) {
        const std::string path = target.path(wants->sets.front().files, 0);
        const int flags = wants->writes ? O_CREAT | O_WRONLY : O_RDONLY;
        if (open_file(path, flags | O_DIRECT)) takes = 1;
        if (wants->writes) (void)storage.remove(path);
    }
    job.session.comm.broadcast(takes);
    BackendChoice direct;
    direct.name = "direct";
    return takes != 0 ? make_storage(job.session, direct, job.room) : nullptr;
}

/// Collective. The storage for several calls in flight (io_uring), tested with a file of a cell.
std::unique_ptr<Storage> make_queued(Job& job, const Target& target, const Storage* direct,
                                     const std::vector<Group>& groups) {
    const auto wants = std::find_if(groups.begin(), groups.end(), [](const Group& group) {
        return group.cells.front().in_flight() > 1;
    });
    if (wants == groups.end() || direct == nullptr || !check_present(Serves::bytes, "uring")) {
        return nullptr;
    }
    BackendChoice choice;
    choice.name = "uring";
    choice.uring.direct = true;
    auto queued = make_storage(job.session, choice, job.room);
    const Comm& comm = job.session.comm;
    const Comm alone = *comm.split(comm.rank());
    std::int64_t takes = 1;
    if (comm.is_root()) {
        const std::string path = target.path(wants->sets.front().files, 0);
        const OpenMode mode = wants->writes ? OpenMode::creating() : OpenMode::reading();
        auto opened = queued->open(alone, {path, mode, Element::byte, {}});
        takes =
            opened && (*opened)->queue({static_cast<std::size_t>(wants->cells.front().in_flight())})
                ? 1
                : 0;
        if (opened) (void)(*opened)->close();
        if (wants->writes) (void)queued->remove(path);
    }
    comm.broadcast(takes);
    return takes != 0 ? std::move(queued) : nullptr;
}

StorageNeeds needs_of(const Definition& definition, const Options& options) {
    return {on_storage(definition, options.storage).bytes, "the files need", "use smaller sizes"};
}

}  // namespace

Status check_cap(const Definition& definition, const Options& options) {
    return check_given_cap(options.storage.max_bytes, !is_model(options.storage.backend.name),
                           needs_of(definition, options));
}

Ending run(Job& job, const Definition& definition, const Options& options, Observer* more,
           const FurtherWork* further) {
    Session& session = job.session;
    const auto hints = read_hint_rules(session, options.storage, vocabulary_of_mpi());
    if (!hints) return Ending::from(hints.error());
    auto made = Backends::make(job, options.storage.backend, definition);
    if (!made) return Ending::from(made.error());
    const Backends backends = std::move(*made);
    Storage& storage = backends.any();
    if (auto can = check_backends(backends, definition); !can) return Ending::from(can.error());

    auto ranks_file = make_rank_csv(session.comm, options.save_ranks, rank_csv_header(definition));
    if (!ranks_file) return Ending::from(ranks_file.error());
    const auto groups = groups_of(definition.cells, backends, session.comm.size());
    Target::Request request = request_of(options.storage);
    request.files = files_of(groups);
    request.only_read =
        std::none_of(groups.begin(), groups.end(), [](const Group& group) { return group.writes; });
    if (further != nullptr) {
        request.files.insert(request.files.end(), further->files.begin(), further->files.end());
    }
    auto run = StorageRun::begin(job, std::move(request), backends.real_files(),
                                 options.storage.cache, needs_of(definition, options));
    if (!run) return Ending::from(run.error());
    const Target& target = run->target();

    Json extra;
    extra["study"] =
        describe(definition, storage.capabilities().stores_data ? options.verified() : "nothing",
                 target.cap());
    if (backends.run() != nullptr) extra["backend"] = describe_backend(*backends.run());
    extra.update(to_json(definition.run_line));
    run->announce(job, std::move(extra));

    const auto records = make_record_view(session.results.recorder(), definition);
    const auto console = make_console_view(session.console, definition, session.results.path());
    Outcome saved;
    const auto rank_view = ranks_file->has_value() ? make_rank_view(**ranks_file, saved) : nullptr;
    const std::vector<Observer*> observers{records.get(), console.get(), more, rank_view.get()};
    const auto direct = make_direct(job, target, storage, groups);
    const bool each_rank = options.save_ranks || (more != nullptr && more->wants_ranks());
    const auto queued = make_queued(job, target, direct.get(), groups);
    const StudyContext context{job,          options,      target, backends,
                               direct.get(), queued.get(), *hints, each_rank};
    Ending ending = Runner(context, definition, groups, observers).run();
    const bool stopped = ending.status != ExitCode::done && ending.status != ExitCode::data_errors;
    if (further != nullptr && session.comm.max(stopped ? 1 : 0) == 0) further->work(target);
    ending = run->end(session, storage, std::move(ending));
    if (saved.error) add(ending, *saved.error);
    return ending;
}

}  // namespace effio::study
