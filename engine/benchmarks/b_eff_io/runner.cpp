// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/units.hpp"
#include "frame/storage_run.hpp"
#include "parallel/over_ranks.hpp"
#include "storage/cache_watch.hpp"

namespace effio::b_eff_io {
namespace {

/// The parts of a row's time, by name.
std::array<NamedNumber, 6> parts_of(const RowTimes& t) {
    return {{{"total", t.total},
             {"calls", t.calls()},
             {"barrier", t.barrier},
             {"broadcast", t.broadcast},
             {"sync", t.sync},
             {"last_call", t.last_call}}};
}

}  // namespace

Runner::Runner(Job& job, const Setup& setup, Storage& storage, const Target& target,
               const HintRules& hints, std::vector<Observer*> observers,
               std::function<void(const std::string&)> warn)
    : job_(job),
      session_(job.session),
      setup_(setup),
      storage_(storage),
      target_(target),
      hints_(hints),
      notify_(session_, std::move(observers)),
      warn_(std::move(warn)),
      self_(Comm::self(job.session.clock)),
      buffers_(setup.lmax, setup.parameters.fill, job.session.world_rank,
               setup.parameters.data.shape(), setup.parameters.memory.pieces()),
      loop_(session_),
      chosen_(everything(setup.partitions.size())),
      until_ci_(setup.parameters.until_ci, setup.parameters.rounds, job.session.clock.now()),
      units_total_(setup.budget.units * static_cast<int>(setup.partitions.size())) {
    for (auto& of_access : sums_) of_access.resize(setup.partitions.size());
    const auto count = static_cast<std::int64_t>(setup.partitions.size());
    for (const std::int64_t ranks : setup.partitions) {
        Partition p;
        p.index = partitions_.size();
        p.ranks = ranks;
        p.rows = row_table(setup.lmax);
        p.cap = cap_shares(p.rows, ranks, setup.cap_bytes / count);
        partitions_.push_back(p);
    }
    result_.setup = setup;
    result_.rounds.resize(setup.partitions.size());
    for (const std::int64_t ranks : setup.partitions) {
        result_.partitions.emplace_back().ranks = ranks;
    }
}

Ending Runner::run() {
    notify_([&](Observer& o) { o.start(setup_); });
    loop_.repeat(session_.comm, until_ci_, [this](std::int64_t round) {
        if (round > 0 && setup_.parameters.until_ci.on()) choose();
        round_ = round;
        for (auto& rounds : result_.rounds) rounds.emplace_back();
        run_round();
        result_.execution_seconds = loop_.seconds();
        if (!loop_.inform(session_.comm) || !session_.comm.is_root()) return;
        until_ci_.set({"b_eff_io", Json::object(), "B/s", "b_eff_io"},
                      estimate(result_.rounds, best_partition).values);
    });
    loop_.inform(session_.comm);
    result_.execution_seconds = loop_.seconds();
    if (setup_.parameters.rounds > 1) report_sums();
    notify_([&](Observer& o) { o.end(result_); });
    until_ci_.report(session_, "b-eff-io");

    Ending ending = loop_.ending("rows", "errors");
    if (const auto& first = loop_.wrong_data(); first && ending.status == ExitCode::data_errors) {
        ending.reason += "; the first: " + first->text();
        ending.errors.push_back(*first);
    }
    return ending;
}

void Runner::run_round() {
    for (const Access access : all_accesses) {
        if (loop_.stops()) break;
        notify_([&](Observer& o) { o.access_begins(access); });
        for (Partition& partition : partitions_) {
            const auto& types = chosen_[partition.index];
            if (std::none_of(types.begin(), types.end(), [](bool is) { return is; })) continue;
            // The world barrier before each (access, partition); ranks outside wait in the next
            // one.
            if (!loop_.inform(session_.comm)) break;
            const bool member = session_.comm.rank() < partition.ranks;
            const auto comm = session_.comm.split(member ? std::optional<int>(0) : std::nullopt);
            if (comm) {
                storage_.set_active_ranks(comm->size());
                access_partition(access, partition, *comm);
            } else {
                wait_for_others(session_, "the partition of " + count_of(partition.ranks, "rank"));
            }
        }
    }
}

void Runner::choose() {
    std::vector<char> chosen(5 * partitions_.size(), 1);
    if (session_.comm.is_root()) {
        const Choice next = next_round(result_.rounds);
        for (std::size_t p = 0; p < next.size(); ++p) {
            for (std::size_t t = 0; t < 5; ++t) chosen[5 * p + t] = next[p][t] ? 1 : 0;
        }
    }
    session_.comm.broadcast(std::span<char>(chosen));
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen_[i / 5][i % 5] = chosen[i] != 0;
}

/// What is the sum of several rounds is reported once it is known.
void Runner::report_sums() {
    if (!session_.comm.is_root()) return;
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
        auto& p = result_.partitions[i];
        for (const Access access : all_accesses) {
            for (const Type type : all_types) {
                auto& of_type = p.types[index(access)][index(type)];
                if (!of_type) continue;
                of_type->estimate = result_.of_type(i, access, type);
                notify_([&](Observer& o) { o.type(*of_type); });
            }
            auto& of_access = p.accesses[index(access)];
            if (!of_access) continue;
            of_access->estimate = result_.of_access(i, access);
            notify_([&](Observer& o) { o.access(*of_access); });
        }
    }
}

void Runner::access_partition(Access access, Partition& partition, const Comm& comm) {
    CommonClock common(comm, job_.topology);
    comm.barrier();
    const double begin = session_.clock.now();
    Sums& sums = sums_[index(access)][partition.index];
    for (const Type type : all_types) {
        if (access == Access::rewrite && !setup_.parameters.rewrite && type != Type::scatter) break;
        if (!chosen_[partition.index][index(type)]) continue;
        access_file(access, partition, type, comm, common, sums);
        if (loop_.stops()) return;
    }
    comm.barrier();
    AccessResult result;
    result.partition = partition.index;
    result.ranks = partition.ranks;
    result.access = access;
    result.bytes = sums.bytes;
    sums.seconds += session_.clock.now() - begin;
    result.seconds = sums.seconds;
    result.weighted_rate = sums.units > 0 ? sums.weighted / sums.units : 0;
    const bool only_scatter = access == Access::rewrite && !setup_.parameters.rewrite;
    auto& collected = result_.partitions[partition.index];
    const std::array<double, 5> rates = collected.rates(access);
    result.average = only_scatter ? rates[0] : access_average(rates);
    result.errors = partition.errors;
    collected.errors = partition.errors;
    collected.accesses[index(access)] = result;
    if (setup_.parameters.rounds == 1) notify_([&](Observer& o) { o.access(result); });
}

void Runner::access_file(Access access, Partition& partition, Type type, const Comm& comm,
                         CommonClock& common, Sums& sums) {
    OpenFile f(partition, comm, type == Type::separated ? self_ : comm, access, type, common);
    // With a size twice in the list, a number in the hints file means the first of them.
    const auto first =
        std::find(setup_.partitions.begin(), setup_.partitions.end(), partition.ranks);
    const bool is_first =
        static_cast<std::size_t>(first - setup_.partitions.begin()) == partition.index;
    f.cell = {is_first ? partition.ranks : 0, std::string(name(access)), std::string(name(type))};
    const Hints hints = hints_.for_open(f.cell);
    if (!open_file(f, hints)) return;
    if (type == Type::segmented) {
        // Counted anew in each access that comes here; the result is the same.
        set_segmented_repetitions(partition.rows, partition.repetitions);
        partition.segment = segment_of(partition.rows, partition.repetitions);
        for (Row& row : partition.rows) {
            if (row.is_fill_up) row.chunk = row.memory = partition.segment.fill();
        }
    }
    for (const Row& row : partition.rows) {
        if (row.type != type) continue;
        measure(f, row, sums);
        if (loop_.stops()) return;
    }
    f.sums.seconds += f.sums.open + f.sums.close;
    f.sums.weighted_rate = f.units > 0 ? f.weighted / f.units : 0;
    f.sums.segment =
        type == Type::segmented || type == Type::seg_coll ? partition.segment.bytes : 0;
    result_.rounds[partition.index].back().types[index(access)][index(type)] =
        Portion{static_cast<double>(f.sums.bytes), f.sums.seconds};
    auto& collected = result_.partitions[partition.index].types[index(access)][index(type)];
    if (collected) f.sums.join(*collected);
    collected = f.sums;
    if (setup_.parameters.rounds == 1) notify_([&](Observer& o) { o.type(f.sums); });
}

double Runner::budget_of(const OpenFile& f, const Row& row, const Sums& sums) const {
    double budget = setup_.budget.unit_seconds * row.units;
    const bool driven = f.access == Access::write && row.type <= Type::separated;
    if (setup_.parameters.adapt && driven && row.number >= 1 && row.units > 0 &&
        sums.scheduled > 0 && sums.measured > sums.scheduled) {
        budget /= 0.5 * (1 + sums.measured / sums.scheduled);
    }
    return budget;
}

RowTask Runner::task_of(const OpenFile& f, const Row& row) const {
    const auto& p = f.partition;
    const auto number = static_cast<std::size_t>(row.number);
    const auto& parameters = setup_.parameters;
    RowTask t;
    t.partition = p.index;
    t.ranks = p.ranks;
    t.access = f.access;
    t.writer =
        f.access != Access::write && is_rewritten(row.type) ? Access::rewrite : Access::write;
    t.compare_all = parameters.verify_all && f.access == Access::read;
    t.row = row;
    t.form = call_form(row.type, setup_.shared_pointer);
    // The fill-up row is found as the size 0 of the table, whatever is left to fill.
    t.hints = hints_.for_row(f.cell, row.is_fill_up ? 0 : row.chunk, row.is_lmax);
    t.has_hints = !t.hints.empty();
    t.max_messages = parameters.max_messages;
    t.time_calls = parameters.storage.times_calls();

    const std::int64_t before = bytes_before(p.rows, p.repetitions, row.number);
    const bool dealt = row.type == Type::scatter || row.type == Type::shared;
    const bool dealt_by_view =
        row.type == Type::scatter || (row.type == Type::shared && !setup_.shared_pointer);
    if (dealt) {
        t.place = {p.ranks * before,
                   RoundRobin{static_cast<int>(p.ranks), f.comm.rank(), row.chunk}};
    } else if (row.type == Type::separated) {
        t.place = {before, Contiguous{}};
    } else {
        t.place = {f.comm.rank() * p.segment.bytes + before, Contiguous{}};
    }
    // A dealt view changes with every row; all others are set once and continue at the pointer.
    if (dealt_by_view) {
        t.view = t.place;
    } else if (row.first) {
        t.view =
            View{row.type == Type::shared || row.type == Type::separated ? 0 : t.place.displacement,
                 Contiguous{}};
    }

    const bool driven = f.access == Access::write && row.type <= Type::separated;
    if (!driven) {
        t.repetitions = p.repetitions[number];
    } else {
        t.cap_calls = p.cap.calls[number];
    }
    return t;
}

void Runner::begin_step(const OpenFile& f, const Row& row, double budget) {
    Progress::Step step;
    step.title = fmt::format("{} {} {}", b_eff_io::name(f.access), b_eff_io::name(f.type),
                             shown_size(Bytes{row.chunk}));
    step.path = f.file->path();
    step.scheduled_seconds = budget;
    step.allowance_seconds = static_cast<double>(f.comm.size() * row.memory) / slowest_storage;
    // As many rounds of everything as it looks now, and no fewer than this one.
    const double total = units_total_ * static_cast<double>(until_ci_.expected());
    step.plan_done = total > 0 ? std::min(1.0, units_done_ / total) : 0;
    step.plan_share = total > 0 ? row.units / total : 0;
    step.plan_seconds_left = setup_.budget.unit_seconds * std::max(0.0, total - units_done_);
    step.ranks = f.comm.size();
    session_.progress.begin(step);
}

void Runner::measure(OpenFile& f, const Row& row, Sums& sums) {
    RowTask task = task_of(f, row);
    task.budget = budget_of(f, row, sums);
    begin_step(f, row, task.budget);
    CacheWatch watch(f.comm, job_.topology, target_.file_system());
    watch.begin();

    f.common.start();  // compares the clocks
    auto m = measure_row(session_, f.comm, *f.file, buffers_, task, warn_);
    if (f.access != Access::read) watch.synced();

    RowResult r;
    r.partition = f.partition.index;
    r.round = round_;
    r.ranks = f.partition.ranks;
    r.access = f.access;
    r.row = row;
    r.scheduled = task.budget;
    r.repetitions = m.repetitions;
    r.bytes = f.partition.ranks * row.memory * m.repetitions;
    r.times = m.times;
    r.ended = m.stop;
    double by_root = m.times.total;
    f.comm.broadcast(by_root);
    r.span = row_span(by_root, span_of_all(f.comm, f.common, m.start, m.stop));
    r.stopped = m.stopped;
    r.sets_view = task.view.has_value();
    r.has_hints = task.has_hints;
    r.asked = task.hints;
    r.cap_calls = task.cap_calls;
    r.granted = f.file->granted_hints();
    r.cache = watch.end(r.bytes, f.access == Access::read);
    f.cold->complete(*r.cache, r.bytes, f.access == Access::read);
    if (r.read_ahead()) {
        r.cache->reason +=
            "; calls before read the rest ahead, for the file was dropped before it was opened";
    }
    f.partition.repetitions[static_cast<std::size_t>(row.number)] = m.repetitions;
    if (f.access != Access::read) {
        buffers_.remember(f.partition.index, f.access, row, m.repetitions);
    }
    if (!m.call_failed && (f.access != Access::read || storage_.capabilities().real_files)) {
        if (auto sized = check_size(f, row); !sized) {
            m.outcome.fail(session_.signed_error(sized.error()));
        }
    }
    if (task.compare_all) f.sums.verified_bytes += f.comm.sum(m.compared);
    if (row.last) {
        // Rewriting would hide what the first writing lost.
        if (f.access == Access::write && is_rewritten(f.type) && setup_.parameters.verify_all &&
            !m.call_failed) {
            verify(f);
        }
        close_file(f, m.outcome);
    }
    r.file = f.tag;
    if (f.type == Type::separated) r.file += ".000";
    r.spreads = spread_over(f.comm, parts_of(m.times));
    if (task.time_calls) r.call_times = merged_over(f.comm, m.call_times);
    r.batches = m.batches;
    const Agreed agreed = loop_.agree(f.comm, m.outcome);
    r.errors = agreed.error_count;
    if (agreed.error) r.error_list.push_back(*agreed.error);
    f.partition.errors += agreed.error_count;
    r.valid = !(agreed.error && agreed.error->exit_code != ExitCode::data_errors);

    f.sums.seconds += r.span.seconds;
    f.sums.bytes += r.bytes;
    f.weighted += row.units * r.rate();
    f.units += row.units;
    sums.bytes += r.bytes;
    sums.weighted += row.units * r.rate();
    sums.units += row.units;
    sums.measured += r.span.seconds;
    sums.scheduled += setup_.budget.unit_seconds * row.units;
    units_done_ += row.units;
    auto& collected = result_.partitions[f.partition.index];
    collected.errors = f.partition.errors;
    notify_([&](Observer& o) { o.row(r); });
    auto& of_row = collected.rows[index(f.access)][static_cast<std::size_t>(row.number)];
    if (of_row) r.join(*of_row);
    of_row = r;
}

}  // namespace effio::b_eff_io
