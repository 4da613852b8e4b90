// SPDX-License-Identifier: BSD-3-Clause
// One phase: from the barrier before the open to the end of the close, and its sums.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "benchmarks/ior/runner.hpp"
#include "core/units.hpp"

namespace effio::ior {
namespace {

constexpr int slowest_shown = 5;

/// What the library remarks, or collective calls that it says it did not carry out collectively.
std::string remark_on(const Json& library) {
    if (library.contains("remark")) return library["remark"].get<std::string>();
    const std::int64_t asked = library.value("collective_calls", std::int64_t{0});
    const std::int64_t done = library.value("done_collectively", asked);
    if (done >= asked) return {};
    return fmt::format("the library carried out {} of {} collective calls of rank 0 collectively",
                       done, asked);
}

/// How close the rate came to `limit` (--rate-limit), and the response times.
std::string remark_on_pace(BytesPerSecond limit, double reached,
                           const std::optional<Histogram>& responses) {
    constexpr double nearly = 0.05;
    const double share = reached / limit.count;
    std::string text =
        fmt::format("{} --rate-limit {}: {} reached ({})",
                    share < 1 - nearly   ? "slower than"
                    : share > 1 + nearly ? "faster than"
                                         : "held to",
                    format_rate(limit.count), format_rate(reached), format_share(share));
    if (share > 1 + nearly) text += ", because the first call of a worker is not held back";
    if (responses && responses->count() > 0) {
        text += fmt::format("; response p50 {}, p99 {}, p99.9 {}",
                            format_duration(responses->quantile_seconds(0.5)),
                            format_duration(responses->quantile_seconds(0.99)),
                            format_duration(responses->quantile_seconds(0.999)));
    }
    return text;
}

/// Seconds that a rank may spend in pauses and delays which the user requested.
double wait_of_a_rank(const Parameters& p, const Geometry& g) {
    const std::int64_t each = g.segments * g.block;
    const std::int64_t calls = each / g.transfer;
    return p.think_time.count * static_cast<double>(calls) + p.seconds_of_call(each, g.workers) +
           asked_wait(p.storage.backend, calls, each);
}

}  // namespace

Calls Runner::calls_of(const PassPlan& task) const {
    const auto& p = setup_.parameters;
    Calls calls;
    calls.access = task.access;
    calls.collective = p.collective;
    // Where a sync is collective, all ranks make equally many.
    calls.in_step = p.collective || (task.access != Access::read && p.sync == SyncWhen::each &&
                                     in_step() && !storage_.capabilities().sync_alone);
    calls.placement = p.placement;
    calls.geometry = geometry(task.transfer);
    calls.compare = task.compare;
    calls.sync_each = task.access != Access::read && p.sync == SyncWhen::each;
    calls.think_seconds = task.timed ? p.think_time.count : 0;
    calls.mix = p.mix();
    if (task.timed) calls.call_seconds = p.seconds_of_call(calls.bytes(), calls.geometry.workers);
    calls.time_calls = task.timed && p.storage.times_calls();
    calls.keep_calls = task.timed && p.save_calls;
    calls.queue_depth = p.queue_depth;
    calls.memory = p.memory.pieces();
    return calls;
}

Until Runner::until_of(const PassPlan& task) const {
    const auto& p = setup_.parameters;
    Until until;
    if (!task.timed) return until;
    // As much as an earlier run wrote is read in whole.
    const bool counted = task.access == Access::read && p.count_file && !p.writes();
    until.seconds = counted ? 0 : p.stonewall.count;
    until.min_seconds = p.min_time.count;
    until.wear_out = p.wear_out && !counted;
    until.wear_out_seconds = p.wear_out_limit.count;
    until.is_cut = p.max_transfers > 0;
    if (p.steady) {
        until.steady = SteadyRule::Settings{static_cast<int>(p.steady_window), p.steady_tolerance};
    }
    until.steady_slice = p.steady_slice.count;
    return until;
}

Hints Runner::hints_of(const PassPlan& task) const {
    const auto& p = setup_.parameters;
    const HintRules::FilePlace cell{comm_.size(), std::string(name(task.access)),
                                    std::string(name(p.files))};
    Hints all = hints_.for_open(cell);
    for (const auto& [key, value] : hints_.for_row(cell, task.transfer, false)) all.set(key, value);
    for (const auto& hint : p.hints) {
        const auto equals = hint.find('=');
        all.set(hint.substr(0, equals), hint.substr(equals + 1));
    }
    return all;
}

std::string Runner::path_of(const PassPlan& task, std::int64_t worker) const {
    return names_.path(target_, worker, task.repetition);
}

/// Bytes of this rank; 0 where a time limit decides, which may be after the last byte.
std::int64_t Runner::planned_bytes(const PassPlan& task) const {
    if (task.timed && setup_.parameters.min_time.count > 0) return 0;
    const std::int64_t calls =
        std::accumulate(task.transfers.begin(), task.transfers.end(), std::int64_t{0});
    return calls * calls_of(task).bytes();
}

void Runner::begin_step(const PassPlan& task, const char* what) {
    const auto& p = setup_.parameters;
    const Geometry g = geometry(task.transfer);
    Progress::Step step;
    step.title = fmt::format("{} {} {}, repetition {}", what, name(g.files),
                             shown_size(Bytes{task.transfer}), task.repetition + 1);
    step.path = path_of(task, worker(task.owner, 0));
    step.scheduled_seconds = task.timed ? p.stonewall.count : 0;
    // Ranks that are done wait in silence for the slowest one.
    const double all_bytes = static_cast<double>(g.total_bytes()) / slowest_storage;
    step.allowance_seconds =
        p.stonewall.count > 0 && task.timed ? 2 * p.stonewall.count : all_bytes;
    step.allowance_seconds += p.min_time.count;
    step.allowance_seconds += wait_of_a_rank(p, g);
    const auto done = static_cast<double>(result_.phases.size());
    const auto total = static_cast<double>(until_ci_.expected()) *
                       static_cast<double>(p.phases.size() * p.transfers.size());
    step.plan_done = std::min(1.0, done / total);
    step.plan_share = task.timed ? 1 / total : 0;
    step.ranks = comm_.size();
    step.planned_bytes = planned_bytes(task);
    session_.progress.begin(step);
}

Status Runner::open(const PassPlan& task, std::vector<WorkerShare>& shares) {
    const auto& p = setup_.parameters;
    const bool shared = p.files == Files::shared;
    const OpenMode mode = task.access == Access::write   ? OpenMode::creating()
                          : task.access == Access::mixed ? OpenMode::updating()
                                                         : OpenMode::reading();
    for (WorkerShare& share : shares) {
        // The further threads of a rank open for themselves.
        const Comm& comm = shared && &share == &shares.front() ? comm_ : self_;
        auto opened =
            storage_.open(comm, {path_of(task, share.worker), mode, Element::byte, hints_of(task),
                                 geometry(task.transfer).blocks(), p.collective, true});
        if (!opened) return std::move(opened.error());
        share.file = std::move(*opened);
        if (auto ready = prepare_file(task, *share.file, share.worker); !ready) return ready;
        if (auto aimed = aim(task, share); !aimed) return aimed;
        if (share.slots.empty()) continue;
        const auto memory = share.memory_of_slots(task.access);
        auto queue = share.file->queue({share.slots.size(), p.collective, memory});
        if (!queue) return std::move(queue.error());
        share.queue = std::move(*queue);
    }
    return {};
}

/// What belongs to the open: storage reserved, the view set.
Status Runner::prepare_file(const PassPlan& task, ByteFile& file, std::int64_t worker) {
    const auto& p = setup_.parameters;
    const Geometry g = geometry(task.transfer);
    if (p.preallocate && task.access == Access::write) {
        if (auto done = file.preallocate(g.blocks().file_bytes()); !done) return done;
    }
    if (p.placement == Placement::offset) return {};
    return file.set_view(g.view(worker), hints_of(task));
}

/// Where its calls go.
Status Runner::aim(const PassPlan& task, WorkerShare& share) const {
    const auto& p = setup_.parameters;
    const Geometry g = geometry(task.transfer);
    std::int64_t existing = g.blocks().file_bytes();
    if (g.order == Order::random && !p.writes() && real_files_) {
        const auto size = share.file->size();
        existing = size ? *size : 0;
        if (existing < g.block) {
            return io_error("read at random places", share.file->path(),
                            fmt::format("the file holds {}, less than a block of {}",
                                        exact_size(existing), exact_size(g.block)));
        }
    }
    share.walk = g.walk(share.worker, std::max(existing, g.block));
    return {};
}

/// Buffers are filled before the time begins.
std::vector<WorkerShare> Runner::shares_of(const PassPlan& task, const Calls& calls) const {
    const auto& p = setup_.parameters;
    std::vector<WorkerShare> shares(task.transfers.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
        WorkerShare& share = shares[i];
        share.worker = worker(task.owner, i);
        share.transfers = task.transfers[i];
        if (task.access != Access::read || task.compare) {
            Data::Source source;
            source.kind = p.data;
            source.seed = task.seed;
            source.file = static_cast<std::uint64_t>(
                calls.geometry.file_of(share.worker) +
                (p.file_each_repetition ? task.repetition * calls.geometry.file_count() : 0));
            source.writer = share.worker;
            source.signature = static_cast<std::int32_t>(task.seed & 0x7fffffff);
            if (p.order == Order::random && p.files == Files::shared) {
                source.block = calls.geometry.block;
                source.workers = calls.geometry.workers;
            }
            source.shape = p.shape.shape();
            share.data.emplace(source, static_cast<std::size_t>(task.transfer));
            share.source = source;
        }
        share.take_memory(calls);
    }
    return shares;
}

/// The calls of all workers of this rank.
Status Runner::move(const PassPlan& task, const Calls& calls, Measured& m) {
    // A rank whose open failed still joins the others, with nothing to do.
    if (m.outcome.error) {
        for (WorkerShare& share : m.shares) share.transfers = 0;
    }
    const Until until = until_of(task);
    m.pass = Pass(session_, comm_, calls, until).run(m.shares);
    for (const auto& result : m.pass.results) {
        m.outcome.error_count += result.outcome.error_count;
        if (result.outcome.error) m.outcome.error = result.outcome.error;
    }
    const auto moved = static_cast<double>(m.pass.sum(&WorkerResult::transfers) * task.transfer);
    session_.progress.allow(wait_of_a_rank(setup_.parameters, geometry(task.transfer)) +
                            moved * comm_.size() / slowest_storage);
    return {};
}

VisitSteps Runner::steps(const PassPlan& task, const Calls& calls, Measured& m) {
    const auto& p = setup_.parameters;
    const Until until = until_of(task);
    // Ranks whose next calls on the file are collective agree first; the others continue.
    const bool alone = !in_step() && !p.barriers;
    VisitSteps steps;
    steps.opening = {{"open", [this, &task, &m] { return open(task, m.shares); }, alone}};
    const bool reads_own_metadata = !storage_.capabilities().plain && !p.verify.empty();
    if (task.access != Access::read || reads_own_metadata) {
        steps.confirm = [this, &m] {
            return each_file(m, [](WorkerShare& share) { return share.file->confirm(); });
        };
    }
    steps.moving = {"transfer", [this, &task, &calls, &m] { return move(task, calls, m); }, alone};
    // Where they wear out or watch for the steady state.
    steps.moving_meets = !in_step() && (until.wear_out || until.steady);
    if (task.access != Access::read && p.sync != SyncWhen::never) {
        steps.sync.work = [this, &m] {
            return each_file(m, [](WorkerShare& share) { return share.file->sync(); });
        };
        steps.sync.alone = !in_step();
    }
    steps.sync_counts = true;
    steps.ask = [&m] {
        for (const WorkerShare& share : m.shares) m.detours += share.file->detours();
        m.granted = m.shares.front().file->granted_hints();
        m.library = m.shares.front().file->describe();
    };
    steps.close.work = [this, &m] {
        return each_file(m, [](WorkerShare& share) {
            share.queue.reset();
            return share.file->close();
        });
    };
    // Closing is collective where files are: after a failure it could hang.
    steps.closes_anyway = !in_step();
    steps.close.alone = true;
    steps.bytes = [&task, &calls, &m](bool) -> VisitSteps::Bytes {
        const std::int64_t all = m.pass.sum(&WorkerResult::transfers) * calls.bytes();
        if (task.access == Access::read) return {all, 0};
        return {m.pass.sum(&WorkerResult::read_calls) * calls.bytes(), all};
    };
    return steps;
}

Runner::Measured Runner::measure(const PassPlan& task, const Cold* cold) {
    Measured m;
    const Calls calls = calls_of(task);
    m.shares = shares_of(task, calls);
    m.pass.results.resize(m.shares.size());
    begin_step(task, task.timed ? name(task.access).data() : "verify");
    session_.progress.wait("barrier");
    VisitSteps all = steps(task, calls, m);
    all.cold = cold;
    all.watched = cold != nullptr;
    m.seen =
        carry_out({session_, comm_, topology_, common_, target_.file_system()}, all, m.outcome);
    m.shares.clear();
    return m;
}

/// Seconds of this rank.
std::vector<NamedNumber> Runner::parts_of(const PassPlan& task, const Measured& m) const {
    const auto& p = setup_.parameters;
    const PartSpan& transfer = m.seen.part("transfer");
    const double compare = m.pass.longest(&WorkerResult::compare_seconds);
    const double flush = m.pass.longest(&WorkerResult::sync_seconds);
    const double think = m.pass.longest(&WorkerResult::think_seconds);
    const double held = m.pass.longest(&WorkerResult::held_seconds);
    const double copy = m.pass.longest(&WorkerResult::copy_seconds);
    double waited = 0;
    for (const auto& part : m.seen.parts) waited += part.agreed - part.end;
    std::vector<NamedNumber> parts{
        {"total", m.seen.counted},
        {"open", m.seen.part("open").seconds()},
        {"transfer", remainder_of(transfer.seconds(), compare + think + held + flush + copy)}};
    if (task.access != Access::read && p.sync != SyncWhen::never) {
        parts.emplace_back("sync", (p.sync == SyncWhen::each ? flush : 0.0) +
                                       remainder_of(m.seen.part("sync").end, transfer.end));
    }
    parts.emplace_back("close", m.seen.part("close").seconds());
    parts.emplace_back("late", m.seen.late);
    if (task.compare) parts.emplace_back("check", compare);
    if (think > 0 || p.think_time.count > 0) parts.emplace_back("think", think);
    if (p.rate_limit) parts.emplace_back("held", held);
    if (p.memory.given() && task.access != Access::read) parts.emplace_back("copy", copy);
    if (in_step() || p.barriers) parts.emplace_back("wait", waited);
    if (p.collective || p.wear_out || p.steady) parts.emplace_back("vote", m.pass.vote_seconds);
    return parts;
}

std::vector<PartSpan> Runner::spans_of(const PassPlan& task, const Visited& seen) const {
    const PartSpan& transfer = seen.part("transfer");
    const PartSpan& close = seen.part("close");
    const PartSpan& sync = seen.part("sync");
    std::vector<PartSpan> spans{seen.part("open"), transfer};
    if (task.access != Access::read) {
        spans.push_back({"sync", transfer.end, sync.name.empty() ? transfer.agreed : sync.end});
    }
    spans.push_back(close);
    std::vector<double> moments;
    for (const auto& span : spans) moments.insert(moments.end(), {-span.begin, span.end});
    comm_.max(std::span<double>(moments));
    for (std::size_t i = 0; i < spans.size(); ++i) {
        spans[i].begin = -moments[2 * i];
        spans[i].end = moments[2 * i + 1];
    }
    return spans;
}

PhaseResult Runner::sum_up(const PassPlan& task, Measured& m) {
    const auto& p = setup_.parameters;
    PhaseResult r;
    m.seen.seconds = parts_of(task, m);
    r.add(comm_, m.seen, nullptr);
    r.writing = task.access == Access::write;
    r.repetition = task.repetition;
    r.access = task.access;
    r.geometry = geometry(task.transfer);
    r.data_seed = task.seed;
    r.ranks = comm_.size();
    r.nodes = setup_.nodes;
    r.path = path_of(task, 0);
    const std::int64_t call_bytes = calls_of(task).bytes();
    const std::int64_t own = m.pass.sum(&WorkerResult::transfers);
    std::array sums{own * call_bytes, own, m.detours, m.pass.sum(&WorkerResult::verified)};
    comm_.sum(std::span<std::int64_t>(sums));
    r.bytes = sums[0];
    r.calls = sums[1];
    r.detours = sums[2];
    r.verified_bytes = sums[3];
    r.spans = spans_of(task, m.seen);

    const auto own_bytes = static_cast<double>(own * call_bytes);
    const double own_seconds = m.seen.part("transfer").seconds();
    r.rank_bytes = spread_over(comm_, own_bytes);
    r.rank_rate = spread_over(comm_, rate_of(own_bytes, own_seconds));
    int reason = 0;
    Histogram calls;
    Histogram reads;
    Histogram responses;
    for (const auto& result : m.pass.results) {
        reason = std::max(reason, static_cast<int>(result.reason));
        calls.merge(result.calls);
        reads.merge(result.reads);
        responses.merge(result.responses);
    }
    r.stopped = static_cast<StopReason>(comm_.max(reason));
    r.interrupted = r.stopped == StopReason::interrupted;
    TimeSeries series = TimeSeries::finely();
    for (auto& result : m.pass.results) {
        const double width = std::max(series.width(), result.series.width());
        series.widen_to(width);
        result.series.widen_to(width);
        const auto& slices = result.series.slices();
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const double begin = static_cast<double>(i) * width;
            if (slices[i] > 0) series.add(begin, begin, slices[i]);
        }
    }
    series = summed_over(comm_, std::move(series), m.seen.late);
    r.batches = batches_of(series, r.span("transfer").seconds(),
                           static_cast<double>(r.calls) / static_cast<double>(r.geometry.workers));
    r.series = series.in_seconds();
    if (task.access == Access::mixed) {
        r.mix = mix_of(m.pass, r, reads, calls);
        calls.merge(reads);
    }
    if (p.storage.times_calls()) {
        r.call_times = merged_over(comm_, calls);
        if (p.rate_limit) r.response_times = merged_over(comm_, responses);
    }
    if (p.stonewall.count > 0 || p.steady) {
        if (!m.pass.wall) m.pass.wall = meet_at_wall(comm_, m.pass.standings());
        r.stonewall = StonewallResult{*m.pass.wall, call_bytes};
    }
    r.steady = m.pass.steady;
    if (p.slowest) r.slowest = largest_over(comm_, own_seconds, session_.host, slowest_shown);
    if (p.rank_details || p.save_rank_details)
        r.rank_details = details_over_ranks(own_bytes, m.seen.counted, own_seconds);
    r.asked = hints_of(task);
    r.granted = m.granted;
    r.library = std::move(m.library);
    r.remark_on(remark_on(r.library));
    if (p.rate_limit)
        r.remark_on(remark_on_pace(*p.rate_limit, r.transfer_rate(), r.response_times));
    return r;
}

MixResult Runner::mix_of(const PassDone& pass, const PhaseResult& all, const Histogram& reads,
                         const Histogram& writes) const {
    MixResult mix;
    mix.asked_share = setup_.parameters.mix().share;
    mix.read_operations = comm_.sum(pass.sum(&WorkerResult::read_calls));
    mix.write_operations = all.calls - mix.read_operations;
    mix.call_bytes = all.geometry.transfer;
    if (setup_.parameters.storage.times_calls()) {
        mix.reads = merged_over(comm_, reads);
        mix.writes = merged_over(comm_, writes);
    }
    return mix;
}

std::vector<RankDetail> Runner::details_over_ranks(double bytes, double total,
                                                   double transfer) const {
    std::vector<RankDetail> details;
    for (const auto& one : gathered_over(comm_, std::array{bytes, total, transfer})) {
        details.push_back({one[0], one[1], one[2]});
    }
    return details;
}

/// What only this rank knows of its calls goes to a separate file.
void Runner::save_calls(const PassPlan& task, const Measured& m, Outcome& mine) const {
    const auto& prefix = setup_.parameters.save_calls;
    if (!prefix) return;
    // IOR's name, and the size where several are measured.
    const std::string size =
        setup_.parameters.transfers.size() > 1 ? fmt::format("-{}", task.transfer) : std::string();
    const std::string path = fmt::format("{}-{}{}-{}-{:05d}.csv", *prefix, name(task.access), size,
                                         task.repetition, comm_.rank());
    std::vector<const std::vector<CallTime>*> threads;
    for (const auto& result : m.pass.results) threads.push_back(&result.kept);
    const auto wrote = write_call_log(path, threads, static_cast<double>(task.transfer));
    if (!wrote) mine.fail(session_.signed_error(wrote.error()));
}

void Runner::finish(const PassPlan& task, Measured& m, PhaseResult& result) {
    save_calls(task, m, m.outcome);
    result.add(loop_.agree(comm_, m.outcome));
    result.valid = result.valid && !result.interrupted;
}

/// What was written without an error must be there: libraries hide failures.
void Runner::check_sizes(const PassPlan& task, const Measured& m, Outcome& mine) const {
    if (!real_files_ || mine.error) return;
    for (std::size_t i = 0; i < m.pass.results.size(); ++i) {
        const std::array path{path_of(task, worker(task.owner, i))};
        // None of several files holds all; their formats know when they are closed.
        if (storage_.files_of(path.front()).size() > 1) continue;
        const auto size = sized(session_, path, m.pass.results[i].highest, false);
        if (!size) mine.fail(session_.signed_error(size.error()));
    }
}

}  // namespace effio::ior
