// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks/mdtest/search.hpp"
#include "parallel/shell.hpp"

namespace effio::mdtest {
namespace {

/// The most severe of the reasons why workers ended a phase; they are in that order.
StopReason stopped_by(const Workers& workers) {
    StopReason found = StopReason::count;
    for (const auto& worker : workers) {
        found = std::max(found, worker->tally().standing.reason);
    }
    return found;
}

void add_series(TimeSeries& sum, const TimeSeries& one) {
    sum.widen_to(one.width());
    double from = 0;
    for (const double amount : one.slices()) {
        if (amount > 0) sum.add(from, from + one.width(), amount);
        from += one.width();
    }
}

void collect(const Workers& workers, LocalResult& local) {
    const bool searched = local.phase->action == Action::find;
    for (const auto& worker : workers) {
        const Tally& d = worker->tally();
        local.operations += searched ? d.entries : d.done;
        local.failed += d.failed;
        local.bytes += d.bytes;
        local.entries += d.entries;
        local.found += d.found;
        local.calls.merge(d.calls);
        add_series(local.over_time, d.over_time);
        if (d.error && !local.outcome.error) local.outcome.error = d.error;
        local.outcome.error_count += d.failed;
    }
    local.stopped = stopped_by(workers);
}

std::vector<StopPoint> standings_of(const Workers& workers) {
    std::vector<StopPoint> all;
    for (const auto& worker : workers) all.push_back(worker->tally().standing);
    return all;
}

}  // namespace

LocalResult measure_phase(const Iteration& iteration, const Phase& phase, CommonClock& common,
                          Workers& workers, WorkerThreads& threads) {
    const Parameters& p = iteration.parameters;
    const Clock& clock = iteration.session.clock;
    LocalResult local;
    local.phase = &phase;
    const bool walled =
        p.stonewall.count > 0 && phase.thing == ItemKind::file && phase.action == Action::create;
    const double wall_seconds = walled ? p.stonewall.count : 0;
    const std::string own = iteration.paths.directory(iteration.owner(phase).value_or(0), 0, 0);
    // There from before the tree is made to after it is removed.
    const std::string base = iteration.paths.test_directory(iteration.owner(phase).value_or(0), 0);
    const auto enter = [&] {
        if (!p.unique || phase.thing == ItemKind::tree) return;
        if (auto seen = iteration.names.stat(own); !seen) local.outcome.fail(seen.error());
    };
    double start = 0;
    threads.run([&](int number) {
        Worker& me = *workers[static_cast<std::size_t>(number)];
        me.prepare(phase);
        if (p.verify && phase.action == Action::read) me.keep_reads();
        threads.meet(number, [&] {
            if (!p.time_entry) enter();
            start = p.no_barriers ? clock.now() : common.start();
            if (p.time_entry) enter();
        });
        me.work(start, wall_seconds);
        if (walled) {
            threads.meet(number,
                         [&] { local.wall = meet_at_wall(iteration.comm, standings_of(workers)); });
            if (!local.wall->interrupted) me.wear_out(local.wall->max_done);
        }
        threads.meet(number, [&] {
            const double worked = clock.now();
            local.work = worked - start;
            if (p.sync_phases) {
                if (auto done = iteration.names.sync_all(base); !done)
                    local.outcome.fail(done.error());
                local.sync = clock.now() - worked;
            }
            if (p.after_phase && !iteration.session.interrupted.load()) {
                const double synced = clock.now();
                if (auto done = run_hook(iteration, phase, *p.after_phase); !done) {
                    local.outcome.fail(std::move(done.error()));
                    local.hook_failed = true;
                }
                local.hook = clock.now() - synced;
            }
            if (!p.no_barriers) iteration.comm.barrier();
            local.ended = clock.now();
            local.total = local.ended - start;
        });
    });
    if (!p.no_barriers) local.late = common.late();
    collect(workers, local);
    return local;
}

Status run_hook(const Iteration& iteration, const Phase& phase, const std::string& command) {
    iteration.session.progress.call("hook");
    auto done =
        run_in_shell(iteration.session, command,
                     {{"EFFIO_PHASE", fmt::format("{}-{}", name(phase.thing), phase.access)},
                      {"EFFIO_ITERATION", std::to_string(iteration.number)},
                      {"EFFIO_RANK", std::to_string(iteration.comm.rank())}});
    if (done) return {};
    return iteration.session.signed_error(std::move(done.error()));
}

Status save_calls(const Iteration& iteration, const Phase& phase, const Workers& workers) {
    const auto& prefix = iteration.parameters.save_calls;
    if (!prefix) return {};
    std::vector<const std::vector<CallTime>*> threads;
    for (const auto& worker : workers) threads.push_back(&worker->tally().kept);
    const std::string path = fmt::format("{}-{}-{}-{}-{:05d}.csv", *prefix, name(phase.thing),
                                         phase.access, iteration.number, iteration.comm.rank());
    return write_call_log(path, threads, 1);
}

namespace {

/// On a classic command line the files may be those of the original, whose data are others.
void refuse_foreign(const Iteration& iteration, const Workers& workers, LocalResult& local) {
    if (!iteration.session.classic || !iteration.parameters.adopts()) return;
    const std::int64_t each = std::max<std::int64_t>(iteration.parameters.bytes_to_read(), 1);
    std::array<std::int64_t, 3> sums{local.verified_bytes / each, local.outcome.error_count, 0};
    for (const auto& worker : workers) sums[2] += worker->tally().foreign;
    iteration.comm.sum(std::span<std::int64_t>(sums));
    const auto [files, wrong, foreign] = sums;
    if (foreign == 0 || foreign != files || foreign != wrong) return;
    local.outcome = Outcome{};
    local.outcome.error = iteration.session.signed_error(
        usage_error("the files are not comparable: nothing in any of them is as this program "
                    "writes it with this -G; another program, or another seed, made them"));
}

}  // namespace

void verify_phase(const Iteration& iteration, const Phase& phase, Workers& workers,
                  WorkerThreads& threads, LocalResult& local) {
    iteration.comm.barrier();
    threads.run([&](int number) { workers[static_cast<std::size_t>(number)]->verify(phase); });
    for (const auto& worker : workers) {
        const Tally& d = worker->tally();
        local.verified_bytes += d.bytes;
        local.of_timed_reads += d.of_timed_reads;
        local.outcome.error_count += d.failed;
        if (d.error && !local.outcome.error) local.outcome.error = d.error;
    }
    refuse_foreign(iteration, workers, local);
}

void expect_finds(const Iteration& iteration, LocalResult& local) {
    if (!iteration.parameters.count || !iteration.names.capabilities().keeps) return;
    local.expected = Search(iteration).wanted_of_own();
}

namespace {

/// Sums over the ranks of what a search found, against what there was to find.
Status check_finds(const Iteration& iteration, const PhaseResult& r) {
    if (!r.expected || r.failed > 0 || r.found == *r.expected) return {};
    Error error = io_error("search", iteration.paths.test_directory(0, 0),
                           fmt::format("{} files found that are like \"{}\", where {} were made",
                                       r.found, iteration.parameters.find_name, *r.expected));
    error.exit_code = ExitCode::data_errors;
    return error;
}

}  // namespace

PhaseResult publish(const Iteration& iteration, const LocalResult& local, int nodes) {
    const Comm& comm = iteration.comm;
    PhaseResult r;
    r.phase = local.phase;
    r.iteration = iteration.number;
    r.ranks = comm.size();
    r.nodes = nodes;
    r.unique = iteration.parameters.unique;
    if (!iteration.parameters.no_barriers) r.ended = local.ended;
    std::array<std::int64_t, 8> sums{local.operations,
                                     local.failed,
                                     local.bytes,
                                     local.entries,
                                     local.verified_bytes,
                                     local.found,
                                     local.expected.value_or(0),
                                     local.of_timed_reads};
    comm.sum(std::span<std::int64_t>(sums));
    r.operations = sums[0];
    r.failed = sums[1];
    r.bytes = sums[2];
    r.entries = sums[3];
    r.verified_bytes = sums[4];
    r.found = sums[5];
    if (local.expected) r.expected = sums[6];
    r.of_timed_reads = sums[7];
    const Parameters& p = iteration.parameters;
    const double ready = local.late + local.work;
    const double total = local.late + local.total;
    std::vector<NamedNumber> parts{{"total", total}, {"work", local.work}, {"sync", local.sync}};
    if (p.after_phase) parts.emplace_back("hook", local.hook);
    parts.emplace_back("late", local.late);
    parts.emplace_back("barrier", remainder_of(local.total, local.work + local.sync + local.hook));
    r.seconds = spread_over(comm, parts);
    if (iteration.parameters.storage.times_calls()) r.call_times = merged_over(comm, local.calls);
    const TimeSeries over_time = summed_over(comm, local.over_time, local.late);
    r.batches = batches_of(
        over_time, spread_of(r.seconds, "work")->max,
        static_cast<double>(r.operations) / static_cast<double>(comm.size() * p.threads));
    r.over_time = over_time.in_seconds();
    constexpr int shown = 3;
    r.slowest = largest_over(comm, ready, iteration.session.host, shown);
    if (p.wants_rank_details()) {
        const std::array mine{static_cast<double>(local.operations),
                              static_cast<double>(local.failed), ready, total};
        for (const auto& [operations, failed, work, whole] : gathered_over(comm, mine)) {
            r.rank_details.push_back({static_cast<std::int64_t>(operations),
                                      static_cast<std::int64_t>(failed), work, whole});
        }
    }
    r.cache = local.cache;
    r.wall = local.wall;
    r.hook_failed = comm.max(local.hook_failed ? 1 : 0) > 0;
    Outcome mine = local.outcome;
    mine.interrupted = iteration.session.interrupted.load();
    if (auto right = check_finds(iteration, r); !right && comm.is_root()) {
        mine.fail(iteration.session.signed_error(right.error()));
    }
    const Agreed agreed = agree(iteration.session, comm, mine);
    r.error_count = agreed.error_count;
    if (agreed.error) r.errors.push_back(*agreed.error);
    r.interrupted = agreed.interrupted;
    r.stopped = static_cast<StopReason>(comm.max(static_cast<int>(local.stopped)));
    if (agreed.failed() && agreed.error->exit_code != ExitCode::data_errors) {
        r.valid = false;
        r.invalid_reason = agreed.error->text();
        if (r.failed > 0) {
            r.invalid_reason = fmt::format("{} of {} operations failed, first: {}", r.failed,
                                           r.operations + r.failed, r.invalid_reason);
        }
    } else if (r.stopped == StopReason::interrupted) {
        r.valid = false;
        r.invalid_reason = "stopped by a signal";
    }
    return r;
}

Result<std::int64_t> count_on_disk(const Iteration& iteration, ItemKind thing) {
    const Workload& w = iteration.paths.workload();
    const Comm& comm = iteration.comm;
    const std::string prefix = item_prefix(thing);
    std::int64_t found = 0;
    Outcome mine;
    iteration.session.progress.call("count");
    const std::int64_t trees = w.loops * w.tree.directories();
    const std::int64_t step = w.unique ? 1 : comm.size();
    for (std::int64_t i = w.unique ? 0 : comm.rank(); i < trees && !mine.error; i += step) {
        const auto counted =
            iteration.names.visit(iteration.paths.directory(comm.rank(), i / w.tree.directories(),
                                                            i % w.tree.directories()),
                                  [&](std::string_view name) {
                                      if (!name.starts_with(prefix)) return;
                                      ++found;
                                      iteration.session.progress.beat();
                                  });
        if (!counted) mine.fail(iteration.session.signed_error(counted.error()));
    }
    comm.barrier();  // in `agree` a rank with an error would not wait for long
    const Agreed agreed = agree(iteration.session, comm, mine);
    if (agreed.failed()) return *agreed.error;
    return comm.sum(found);
}

}  // namespace effio::mdtest
