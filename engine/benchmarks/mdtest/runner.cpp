// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/mdtest/cold_read.hpp"
#include "frame/count_file.hpp"
#include "frame/storage_run.hpp"
#include "parallel/wait.hpp"

namespace effio::mdtest {
namespace {

constexpr std::size_t index(ItemKind thing) {
    return static_cast<std::size_t>(thing);
}

/// Whether `phase` is the last after which files can be compared with what was written.
bool verifies_here(const Parameters& p, const Phase& phase) {
    if (!p.verify || phase.thing != ItemKind::file) return false;
    if (phase.action == Action::read) return true;
    return phase.action == Action::create && !p.has("read");
}

/// Other phases of the iteration do not need it.
bool only_looks(const Parameters& p, const Phase& phase) {
    switch (phase.action) {
        case Action::read:
            return !p.verify;
        case Action::stat:
        case Action::list:
        case Action::find:
        case Action::get_attribute:
        case Action::read_link:
            return true;
        default:
            return false;
    }
}

/// For what takes as long as the user wants.
constexpr double any_time = 1e9;

/// A removal or the like takes long on some storage; a millisecond a name is very slow.
double allowance(std::int64_t names) {
    return 10 + 1e-3 * static_cast<double>(names);
}

}  // namespace

Runner::Runner(Job& job, const Setup& setup, Names& names, const Target& target,
               std::vector<Observer*> observers, RankTable& rank_table,
               std::optional<RankCsv> rank_csv)
    : job_(job),
      session_(job.session),
      setup_(setup),
      names_(names),
      target_(target),
      notify_(session_, std::move(observers)),
      rank_table_(rank_table),
      rank_csv_(std::move(rank_csv)),
      loop_(session_) {
    result_.setup = setup;
    const auto runs =
        std::count_if(all_phases().begin(), all_phases().end(),
                      [&](const Phase& phase) { return setup_.parameters.runs(phase); });
    const auto sizes = std::max<std::size_t>(setup_.parameters.ranks.size(), 1);
    phases_planned_ =
        std::max(1, static_cast<int>(runs * setup_.parameters.iterations) *
                        (setup_.parameters.compare_trees ? 2 : 1) * static_cast<int>(sizes));
}

Ending Runner::run() {
    notify_([&](Observer& o) { o.start(setup_); });
    measure_sizes();
    if (setup_.parameters.compare_trees && !loop_.stops()) {
        setup_.parameters.unique = true;
        setup_.workload = setup_.parameters.workload();
        measure_sizes();
    }
    if (setup_.parameters.save_rank_details) {
        together(session_.comm, rank_csv_ ? rank_csv_->add(rank_table_.end(result_)) : Status());
    }
    notify_([&](Observer& o) { o.end(result_); });
    for (const auto& [place, until_ci] : repeated_) until_ci.report(session_, "mdtest", place);
    const auto& [error, count, interrupted] = loop_.outcome();
    Ending ending = ending_of(error, interrupted, "phases", 0, {});
    if (error) {
        ending.reason =
            fmt::format("{}, first: {}", count_of(loop_.errors(), "error"), error->text());
        if (left_ && left_->operation != error->operation) {
            ending.errors.push_back(*left_);
            ending.reason += "; " + left_->text();
        }
    }
    return ending;
}

void Runner::measure_sizes() {
    auto sizes = setup_.parameters.ranks;
    if (sizes.empty()) sizes.push_back(session_.comm.size());
    const Parameters& p = setup_.parameters;
    for (const std::int64_t size : sizes) {
        // The trees of the number before make way.
        if (size != sizes.front() && !p.adopts() && !p.removes() && remove_all_trees()) return;
        const bool member = session_.comm.rank() < size;
        const auto comm = session_.comm.split(member ? std::optional<int>(0) : std::nullopt);
        if (comm) {
            measure(*comm);
        } else {
            wait_for_others(session_, count_of(size, "rank"));
        }
        agree_with_waiting_ranks();
        if (loop_.stops()) return;
    }
}

bool Runner::together(const Comm& comm, const Status& mine) {
    Outcome outcome;
    if (!mine) outcome.fail(session_.signed_error(mine.error()));
    // A rank that has an error waits in `agree` for a while only; the others may be at work still.
    comm.barrier();
    loop_.agree(comm, outcome);
    return loop_.stops();
}

void Runner::agree_with_waiting_ranks() {
    const Comm& all = session_.comm;
    all.barrier();
    loop_.keep(agree(session_, all, loop_.outcome()));
    if (all.max(loop_.stops() ? 1 : 0) > 0) loop_.stop();
}

void Runner::measure(const Comm& comm) {
    const Topology topology = find_topology(comm);
    Group group{
        comm,
        topology,
        CommonClock(comm, topology),
        nullptr,
        WorkerThreads(static_cast<int>(setup_.parameters.threads)),
        UntilCi(setup_.parameters.until_ci, setup_.parameters.iterations, session_.clock.now()),
        {}};
    if (setup_.parameters.rank_shift > 0) {
        group.order = std::make_unique<NodeOrder>(comm, group.topology);
    }
    std::vector<UntilCi::Subject> phases;
    for (const Phase& phase : all_phases()) {
        phases.push_back(subject_of(phase, comm.size(), setup_.workload.unique));
    }
    loop_.repeat(comm, group.until_ci, [&](std::int64_t number) {
        group.wanted = group.until_ci.wanted(comm, phases);
        iteration(group, number);
    });
    repeated_.emplace_back(Json{{"ranks", comm.size()}, {"unique", setup_.workload.unique}},
                           std::move(group.until_ci));
}

void Runner::iteration(Group& group, std::int64_t number) {
    const Parameters& p = setup_.parameters;
    const Paths paths(p.bases(), setup_.workload, number, p.name_length);
    if (together(group.comm, make_test_directories(group, paths))) return;
    Running running{
        {session_, group.comm, p, paths, names_, group.order.get(), number, setup_.files},
        {},
        {},
        {}};
    for (int t = 0; t < group.threads.size(); ++t) {
        running.workers.push_back(std::make_unique<Worker>(running.iteration, t));
    }
    const auto all = all_phases();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Phase& one = all[i];
        if (!p.runs(one)) continue;
        if (group.wanted[i] == 0 && only_looks(p, one)) {
            ++phases_done_;
            continue;
        }
        phase(group, running, one);
        if (loop_.stops()) return;
    }
    for (const LocalResult& local : running.unpublished) report(group, running, local);
    if (!p.removes()) {
        for (const ItemKind thing : {ItemKind::directory, ItemKind::file}) {
            if (!loop_.stops()) count(group, running, thing, false);
        }
    } else if (!loop_.stops()) {
        const Status removed = remove_test_directories(group.comm, paths);
        if (!removed) left_ = removed.error();
        together(group.comm, removed);
    }
}

void Runner::pause() const {
    session_.progress.call("pause");
    wait_as_asked(session_, setup_.parameters.delay.count);
}

bool Runner::hook_before(const Group& group, const Running& running, const Phase& phase) {
    const auto& command = setup_.parameters.before_phase;
    if (!command) return false;
    // Ranks wait for the one whose command takes longest.
    session_.progress.begin({.title = fmt::format("command before: {}", phase.title),
                             .path = {},
                             .allowance_seconds = any_time,
                             .ranks = group.comm.size()});
    return together(group.comm, run_hook(running.iteration, phase, *command));
}

bool Runner::guard(const Group& group, Running& running, const Phase& phase) {
    const bool makes_trees = phase.thing == ItemKind::tree && phase.action == Action::create;
    // Without barriers the ranks do not synchronize between phases.
    if (!names_.capabilities().real_files || makes_trees || setup_.parameters.no_barriers) {
        return false;
    }
    Status ours;
    if (setup_.workload.unique || group.comm.is_root()) {
        ours = running.guard.look(running.iteration.paths, group.comm.rank());
    }
    return together(group.comm, ours);
}

void Runner::begin_step(const Group& group, const Running& running, const Phase& phase) {
    Progress::Step step;
    step.title = std::string(phase.title);
    if (setup_.parameters.iterations > 1) {
        step.title +=
            fmt::format(" ({} of {})", running.iteration.number + 1, setup_.parameters.iterations);
    }
    step.path = running.iteration.paths.test_directory(group.comm.rank(), 0);
    const double foreseen = static_cast<double>(group.until_ci.expected()) /
                            static_cast<double>(setup_.parameters.iterations);
    step.plan_done =
        std::min(1.0, static_cast<double>(phases_done_++) / (foreseen * phases_planned_));
    step.ranks = group.comm.size();
    // With --by-root the others wait for the one that works, which does not wake their watchdogs.
    const std::int64_t names = running.iteration.items(phase.thing);
    step.allowance_seconds =
        setup_.parameters.by_root || phase.thing == ItemKind::tree || phase.action == Action::remove
            ? allowance(names * group.comm.size())
            : allowance(names);
    step.allowance_seconds += asked_wait(setup_.parameters.storage.backend, names, 0);
    if (setup_.parameters.no_barriers) step.allowance_seconds *= phases_planned_;
    if (setup_.parameters.after_phase) step.allowance_seconds = any_time;
    session_.progress.begin(step);
    session_.progress.call(phase.access);
}

void Runner::phase(Group& group, Running& running, const Phase& phase) {
    const Parameters& p = setup_.parameters;
    const Iteration& iteration = running.iteration;
    const bool first_of_thing = phase.action == Action::create && phase.thing != ItemKind::tree;
    if (first_of_thing && p.delay.count > 0) pause();
    if (phase.action == Action::remove && phase.thing != ItemKind::tree) {
        count(group, running, phase.thing, false);
        if (loop_.stops()) return;
    }
    if (phase.action == Action::move) {
        if (together(group.comm, prepare_move(group, running, true))) return;
    }
    if (hook_before(group, running, phase)) return;
    if (guard(group, running, phase)) return;
    begin_step(group, running, phase);
    ColdRead cold(iteration, phase, running.workers, group.topology, target_.file_system());
    if (cold.applies() && together(group.comm, cold.before())) return;
    LocalResult local =
        measure_phase(iteration, phase, group.clock, running.workers, group.threads);
    cold.after(local);
    if (local.wall) {
        // Directories of items that were not made are never searched.
        const std::int64_t each =
            std::min(local.wall->max_done * p.threads, running.iteration.files);
        running.iteration.files = local.wall->timed_out > 0 ? each : running.iteration.files;
        if (p.stonewall_file && group.comm.is_root()) {
            if (auto done = write_count(*p.stonewall_file, running.iteration.files); !done) {
                local.outcome.fail(done.error());
            }
        }
    }
    if (auto saved = save_calls(iteration, phase, running.workers); !saved) {
        local.outcome.fail(session_.signed_error(saved.error()));
    }
    if (verifies_here(p, phase)) {
        verify_phase(iteration, phase, running.workers, group.threads, local);
    }
    if (phase.action == Action::find) expect_finds(iteration, local);
    if (p.no_barriers) {
        if (phase.thing == ItemKind::tree && !p.unique) group.comm.barrier();
        running.unpublished.push_back(std::move(local));
        return;
    }
    report(group, running, local);
    if (phase.action == Action::move && !loop_.stops()) {
        if (together(group.comm, prepare_move(group, running, false))) return;
    }
    if (phase.action == Action::remove && phase.thing != ItemKind::tree && !loop_.stops()) {
        count(group, running, phase.thing, true);
    }
}

void Runner::report(Group& group, Running& running, const LocalResult& local) {
    const PhaseResult r = publish(running.iteration, local, group.topology.nodes);
    const Phase& phase = *r.phase;
    const std::size_t thing = index(phase.thing);
    if (phase.action == Action::create) {
        running.created[thing] += setup_.parameters.shared_files && phase.thing == ItemKind::file
                                      ? r.operations / r.ranks
                                      : r.operations;
    }
    if (phase.action == Action::remove) running.created[thing] -= r.operations;
    // A file that could be created but not written is neither done nor absent.
    if (phase.action == Action::create && r.failed > 0) running.count_holds[thing] = false;
    result_.add(r);
    notify_([&](Observer& o) { o.phase(r); });
    if (r.has_rate()) group.until_ci.add(subject_of(phase, r.ranks, r.unique), r.rate());
    if (setup_.parameters.save_rank_details) {
        together(group.comm, rank_csv_ ? rank_csv_->add(rank_table_.phase(r)) : Status());
    }
    loop_.keep({r.error_count, r.interrupted,
                r.errors.empty() ? std::nullopt : std::optional(r.errors.front())});
    // Whatever follows would fail on what is missing.
    if (phase.action == Action::create && !r.valid) loop_.stop();
    // What failed before a phase stops the run, so what fails after one does.
    if (r.hook_failed) loop_.stop();
}

void Runner::count(Group& group, Running& running, ItemKind thing, bool after_removal) {
    const Parameters& p = setup_.parameters;
    const std::size_t i = index(thing);
    const bool absent =
        p.things == (thing == ItemKind::file ? ItemSelection::directories : ItemSelection::files);
    if (absent || !p.count || p.no_barriers || !names_.capabilities().keeps ||
        !running.count_holds[i]) {
        return;
    }
    session_.progress.begin({.title = "count what is on disk",
                             .path = running.iteration.paths.test_directory(group.comm.rank(), 0),
                             .allowance_seconds = allowance(running.iteration.items(thing))});
    const bool adopted = p.adopts() && !after_removal;
    if (adopted) {
        running.created[i] =
            running.iteration.items(thing) * (p.shared_files ? 1 : group.comm.size());
    }
    const auto found = count_on_disk(running.iteration, thing);
    if (!found) {
        loop_.keep({1, false, found.error()});
        return;
    }
    // The earlier run may have made more items, with more ranks or in another number of them.
    if (adopted) running.created[i] = std::max(running.created[i], *found);
    const DiskCount counted{thing,
                            running.iteration.number,
                            group.comm.size(),
                            p.unique,
                            after_removal,
                            running.created[i],
                            *found};
    notify_([&](Observer& o) { o.counted(counted); });
    if (counted.right()) return;
    Error error =
        io_error("count on disk", running.iteration.paths.test_directory(0, 0),
                 fmt::format("{} {} names where {} were made and not removed without an error",
                             *found, name(thing), running.created[i]));
    error.exit_code = ExitCode::data_errors;
    loop_.keep({1, false, std::move(error)});
}

Status Runner::make_test_directories(const Group& group, const Paths& paths) {
    if (!group.comm.is_root()) return {};
    const auto bases = setup_.parameters.bases();
    for (std::size_t base = 0; base < bases.size(); ++base) {
        for (std::int64_t loop = 0; loop < setup_.workload.loops; ++loop) {
            const std::string path = paths.test_directory(static_cast<int>(base), loop);
            if (job_.room != nullptr) (void)job_.room->inside(path + "/mdtest_tree");
            if (auto made = target_.make_tree(path); !made) return made;
        }
    }
    return {};
}

bool Runner::remove_all_trees() {
    const Parameters& p = setup_.parameters;
    session_.progress.begin(
        {.title = "remove the trees of fewer ranks",
         .path = {},
         .allowance_seconds = allowance(2 * setup_.files * p.iterations * session_.comm.size())});
    Status removed;
    for (std::int64_t i = 0; i < p.iterations && removed; ++i) {
        removed = remove_test_directories(session_.comm,
                                          Paths(p.bases(), setup_.workload, i, p.name_length));
    }
    return together(session_.comm, removed);
}

Status Runner::remove_test_directories(const Comm& comm, const Paths& paths) {
    if (!comm.is_root()) return {};
    const auto bases = setup_.parameters.bases();
    for (std::size_t base = 0; base < bases.size(); ++base) {
        for (std::int64_t loop = 0; loop < setup_.workload.loops; ++loop) {
            const std::string path = paths.test_directory(static_cast<int>(base), loop);
            auto removed = target_.remove_tree(path);
            if (removed) continue;
            if (!stays(session_, setup_.parameters, removed.error())) return removed;
            fmt::print(stderr, "effio: warning: {}{}\n", session_.speaker(),
                       removed.error().text());
        }
    }
    return {};
}

Status Runner::prepare_move(const Group& group, const Running& running, bool before) {
    const Workload& w = setup_.workload;
    if (!w.unique && !group.comm.is_root()) return {};
    for (std::int64_t loop = 0; loop < w.loops; ++loop) {
        const std::string path = running.iteration.paths.elsewhere(group.comm.rank(), loop);
        if (auto done = before ? names_.make_directory(path) : names_.remove_directory(path);
            !done) {
            return done;
        }
    }
    return {};
}

}  // namespace effio::mdtest
