// SPDX-License-Identifier: BSD-3-Clause
// One phase: from the barrier before the open to the end of the close, and its sums.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "benchmarks/ior/runner.hpp"
#include "storage/cache_watch.hpp"
#include "storage/posix_calls.hpp"

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

/// What a reader must know of a rate that was not to be more than `limit`.
std::string remark_on_pace(BytesPerSecond limit, double reached) {
    constexpr double kept_up = 0.95;
    const std::string asked = fmt::format("--rate-limit {}", format_rate(limit.count));
    return reached < kept_up * limit.count ? "slower than " + asked : "held to " + asked;
}

/// Seconds that a rank may spend in pauses and delays which the user asked for.
double wait_of_a_rank(const Parameters& p, const Geometry& g) {
    const std::int64_t each = g.segments * g.block;
    const std::int64_t calls = each / g.transfer;
    return p.think_time.count * static_cast<double>(calls) + p.seconds_of_call(each, g.workers) +
           asked_wait(p.storage.backend, calls, each);
}

}  // namespace

Calls Runner::calls_of(const Task& task) const {
    const auto& p = setup_.parameters;
    Calls calls;
    calls.access = task.access;
    calls.collective = p.collective;
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
    return calls;
}

Until Runner::until_of(const Task& task) const {
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

Hints Runner::hints_of(const Task& task) const {
    const auto& p = setup_.parameters;
    const HintRules::Cell cell{comm_.size(), std::string(name(task.access)),
                               std::string(name(p.files))};
    Hints all = hints_.for_open(cell);
    for (const auto& [key, value] : hints_.for_row(cell, task.transfer, false)) all.set(key, value);
    for (const auto& hint : p.hints) {
        const auto equals = hint.find('=');
        all.set(hint.substr(0, equals), hint.substr(equals + 1));
    }
    return all;
}

std::string Runner::path_of(const Task& task, std::int64_t worker) const {
    return names_.path(target_, worker, task.repetition);
}

/// Of this rank; 0 where a time decides that may lie behind the last byte.
std::int64_t Runner::planned_bytes(const Task& task) const {
    if (task.timed && setup_.parameters.min_time.count > 0) return 0;
    const std::int64_t calls =
        std::accumulate(task.transfers.begin(), task.transfers.end(), std::int64_t{0});
    return calls * calls_of(task).bytes();
}

void Runner::begin_step(const Task& task, const char* what) {
    const auto& p = setup_.parameters;
    const Geometry g = geometry(task.transfer);
    Progress::Step step;
    step.title = fmt::format("{} {} {}, repetition {}", what, name(g.files),
                             format_exact(Bytes{task.transfer}), task.repetition + 1);
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
    step.ranks = comm_.size();
    step.planned_bytes = planned_bytes(task);
    session_.progress.begin(step);
}

bool Runner::open_lanes(const Task& task, std::vector<std::unique_ptr<ByteFile>>& files,
                        std::vector<Lane>& lanes, Outcome& mine) {
    const auto& p = setup_.parameters;
    const bool shared = p.files == Files::shared;
    const OpenMode mode = task.access == Access::write   ? OpenMode::creating()
                          : task.access == Access::mixed ? OpenMode::updating()
                                                         : OpenMode::reading();
    for (std::size_t thread = 0; thread < task.transfers.size(); ++thread) {
        const std::int64_t number = worker(task.owner, thread);
        // The further threads of a rank open for themselves.
        const Comm& comm = shared && thread == 0 ? comm_ : self_;
        auto opened =
            storage_.open(comm, {path_of(task, number), mode, Element::byte, hints_of(task),
                                 geometry(task.transfer).blocks(), p.collective});
        if (!opened) {
            mine.fail(std::move(opened.error()));
            return false;
        }
        files.push_back(std::move(*opened));
        if (auto ready = prepare_file(task, *files.back(), number); !ready) {
            mine.fail(std::move(ready.error()));
            return false;
        }
        if (lanes[thread].slots.empty()) continue;
        const auto memory = lanes[thread].memory_of_slots(task.access);
        auto queue = files.back()->queue({lanes[thread].slots.size(), p.collective, memory});
        if (!queue) {
            mine.fail(std::move(queue.error()));
            return false;
        }
        lanes[thread].queue = std::move(*queue);
    }
    return true;
}

/// What belongs to the open: storage reserved, the view set.
Status Runner::prepare_file(const Task& task, ByteFile& file, std::int64_t worker) {
    const auto& p = setup_.parameters;
    const Geometry g = geometry(task.transfer);
    if (p.preallocate && task.access == Access::write) {
        if (auto done = file.preallocate(g.blocks().file_bytes()); !done) return done;
    }
    if (p.placement == Placement::offset) return {};
    return file.set_view(g.view(worker), hints_of(task));
}

void Runner::aim_lanes(const Task& task, std::vector<std::unique_ptr<ByteFile>>& files,
                       std::vector<Lane>& lanes, Outcome& mine) {
    const auto& p = setup_.parameters;
    const Geometry g = geometry(task.transfer);
    for (std::size_t i = 0; i < files.size(); ++i) {
        std::int64_t existing = g.blocks().file_bytes();
        if (g.order == Order::random && !p.writes() && real_files_) {
            const auto size = files[i]->size();
            existing = size ? *size : 0;
            if (existing < g.block) {
                mine.fail(io_error("read at random places", files[i]->path(),
                                   fmt::format("the file holds {} bytes, less than a block of {}",
                                               existing, g.block)));
            }
        }
        lanes[i].file = files[i].get();
        lanes[i].transfers = task.transfers[i];
        lanes[i].walk = g.walk(worker(task.owner, i), std::max(existing, g.block));
    }
}

void Runner::Times::begin_late(double seconds) {
    late = seconds;
    for (double* moment : {&open_begin, &open_end, &transfer_begin, &transfer_end, &sync_end,
                           &close_begin, &close_end}) {
        *moment += seconds;
    }
}

Runner::Measured Runner::measure(const Task& task) {
    const auto& p = setup_.parameters;
    Measured m;
    Times& t = m.times;
    const Calls calls = calls_of(task);
    const Until until = until_of(task);
    // Buffers are filled before the time begins.
    std::vector<Lane> lanes(task.transfers.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const std::int64_t owner = worker(task.owner, i);
        if (task.access != Access::read || task.compare) {
            Data::Source source;
            source.kind = p.data;
            source.seed = task.seed;
            source.file = static_cast<std::uint64_t>(
                calls.geometry.file_of(owner) +
                (p.file_each_repetition ? task.repetition * calls.geometry.file_count() : 0));
            source.writer = owner;
            source.signature = static_cast<std::int32_t>(task.seed & 0x7fffffff);
            lanes[i].data.emplace(source, static_cast<std::size_t>(task.transfer));
            lanes[i].source = source;
        }
        lanes[i].worker = owner;
        lanes[i].take_memory(calls);
    }
    begin_step(task, task.timed ? name(task.access).data() : "verify");
    session_.progress.call("barrier");
    const double start = common_.start();
    const auto now = [&] { return session_.clock.now() - start; };
    // Ranks whose next calls on the file are collective agree first; the others just go on.
    const auto together = [&] {
        if (!in_step() && !p.barriers) return m.outcome.error.has_value();
        const Lap lap(session_.clock, t.waited);
        const Agreed agreed = agree(session_, comm_, m.outcome);
        return agreed.failed() && agreed.error->exit_code != ExitCode::data_errors;
    };

    std::vector<std::unique_ptr<ByteFile>> files;
    t.open_begin = now();
    open_lanes(task, files, lanes, m.outcome);
    t.open_end = now();
    bool failed = together();
    aim_lanes(task, files, lanes, m.outcome);
    if (files.size() < lanes.size() || m.outcome.error) failed = true;
    lanes.resize(files.size());
    t.transfer_begin = now();
    m.pass.lanes.resize(task.transfers.size());
    // The passes of all ranks meet where they wear out or watch for the steady state.
    const bool meets = until.wear_out || until.steady;
    if (!failed || (meets && !in_step())) {
        if (failed) {
            for (auto& lane : lanes) lane.transfers = 0;
        }
        Pass pass(session_, comm_, calls, until);
        m.pass = pass.run(lanes);
    }
    t.transfer_end = now();
    for (const auto& lane : m.pass.lanes) {
        m.outcome.error_count += lane.outcome.error_count;
        if (lane.outcome.error) m.outcome.error = lane.outcome.error;
    }
    session_.progress.allow(wait_of_a_rank(p, geometry(task.transfer)) +
                            static_cast<double>(m.pass.transfers() * task.transfer) * comm_.size() /
                                slowest_storage);
    failed = together() || failed;
    if (!failed && task.access != Access::read && p.sync != SyncWhen::never) {
        for (auto& file : files) {
            if (auto synced = file->sync(); !synced) m.outcome.fail(synced.error());
        }
    }
    t.sync_end = now();
    if (in_step() && p.sync != SyncWhen::never && task.access != Access::read)
        failed = together() || failed;
    t.close_begin = now();
    for (auto& lane : lanes) lane.queue.reset();
    for (auto& file : files) {
        m.detours += file->detours();
        if (file == files.front()) {
            m.granted = file->granted_hints();
            m.library = file->describe();
        }
        // Closing is collective where files are: after a failure it could hang.
        if (failed && in_step()) continue;
        if (auto closed = file->close(); !closed) m.outcome.fail(closed.error());
    }
    t.close_end = now();
    t.begin_late(common_.late());
    m.wall = m.pass.wall;
    return m;
}

PhaseResult Runner::sum_up(const Task& task, Measured& m) {
    const auto& p = setup_.parameters;
    const Times& t = m.times;
    const bool writing = task.access != Access::read;
    PhaseResult r;
    r.repetition = task.repetition;
    r.access = task.access;
    r.geometry = geometry(task.transfer);
    r.ranks = comm_.size();
    r.nodes = setup_.nodes;
    r.file = path_of(task, 0);
    const std::int64_t call_bytes =
        p.placement == Placement::strided ? r.geometry.segments * r.geometry.block : task.transfer;
    const std::int64_t own = m.pass.transfers();
    std::array<std::int64_t, 4> sums{own * call_bytes, own, m.detours, m.pass.verified()};
    comm_.sum(std::span<std::int64_t>(sums));
    r.bytes = sums[0];
    r.operations = sums[1];
    r.detours = sums[2];
    r.verified_bytes = sums[3];

    double compare = 0;
    double sync_calls = 0;
    double think = 0;
    double held = 0;
    for (const auto& lane : m.pass.lanes) {
        compare = std::max(compare, lane.compare_seconds);
        sync_calls = std::max(sync_calls, lane.sync_seconds);
        think = std::max(think, lane.think_seconds);
        held = std::max(held, lane.held_seconds);
    }
    std::vector<Named> parts{
        {"total", t.close_end},
        {"open", t.open_end - t.open_begin},
        {"transfer", t.transfer_end - t.transfer_begin - compare - think - held - sync_calls},
        {"close", t.close_end - t.close_begin}};
    if (writing && p.sync != SyncWhen::never) {
        const double flush = p.sync == SyncWhen::each ? sync_calls : 0.0;
        parts.insert(parts.begin() + 3, {"sync", flush + t.sync_end - t.transfer_end});
    }
    parts.emplace_back("late", t.late);
    if (task.compare) parts.emplace_back("check", compare);
    if (think > 0 || p.think_time.count > 0) parts.emplace_back("think", think);
    if (p.rate_limit) parts.emplace_back("held", held);
    if (in_step() || p.barriers) parts.emplace_back("wait", t.waited);
    if (p.collective || p.wear_out || p.steady) parts.emplace_back("vote", m.pass.vote_seconds);
    r.seconds = spread_over(comm_, parts);
    r.total = r.seconds.front().second.max;

    std::vector<double> first{-t.open_begin, -t.transfer_begin, -t.transfer_end, -t.close_begin};
    std::vector<double> last{t.open_end, t.transfer_end, t.sync_end, t.close_end};
    comm_.max(std::span<double>(first));
    comm_.max(std::span<double>(last));
    r.spans = {{"open", -first[0], last[0]}, {"transfer", -first[1], last[1]}};
    if (writing) r.spans.push_back({"sync", -first[2], last[2]});
    r.spans.push_back({"close", -first[3], last[3]});

    const auto own_bytes = static_cast<double>(own * call_bytes);
    const double own_seconds = t.transfer_end - t.transfer_begin;
    r.rank_bytes = spread_over(comm_, own_bytes);
    r.rank_rate = spread_over(comm_, own_seconds > 0 ? own_bytes / own_seconds : 0.0);
    int reason = 0;
    Histogram calls;
    Histogram reads;
    for (const auto& lane : m.pass.lanes) {
        reason = std::max(reason, static_cast<int>(lane.reason));
        calls.merge(lane.calls);
        reads.merge(lane.reads);
    }
    r.stopped = static_cast<StopReason>(comm_.max(reason));
    TimeSeries series;
    for (auto& lane : m.pass.lanes) {
        const double width = std::max(series.width(), lane.series.width());
        series.widen_to(width);
        lane.series.widen_to(width);
        const auto& slices = lane.series.slices();
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const double begin = static_cast<double>(i) * width;
            if (slices[i] > 0) series.add(begin, begin, slices[i]);
        }
    }
    r.series = summed_over(comm_, std::move(series), t.late);
    if (task.access == Access::mixed) {
        r.mix = mix_of(m.pass, r, reads, calls);
        calls.merge(reads);
    }
    if (p.storage.times_calls()) r.call_times = merged_over(comm_, calls);
    if (p.stonewall.count > 0 || p.steady) {
        if (!m.wall) m.wall = meet_at_wall(comm_, m.pass.standings());
        r.stonewall = StonewallResult{*m.wall, call_bytes};
    }
    r.steady = m.pass.steady;
    if (p.slowest) r.slowest = largest_over(comm_, own_seconds, session_.host, slowest_shown);
    if (p.rank_details || p.save_rank_details)
        r.rank_details = details_over_ranks(own_bytes, t.close_end, own_seconds);
    r.asked = hints_of(task);
    r.granted = m.granted;
    r.library = std::move(m.library);
    r.remark = remark_on(r.library);
    if (p.rate_limit) {
        if (!r.remark.empty()) r.remark += "; ";
        r.remark += remark_on_pace(*p.rate_limit, r.transfer_rate());
    }
    return r;
}

MixResult Runner::mix_of(const PassDone& pass, const PhaseResult& all, const Histogram& reads,
                         const Histogram& writes) const {
    std::int64_t own = 0;
    for (const auto& lane : pass.lanes) own += lane.read_calls;
    MixResult mix;
    mix.asked_share = setup_.parameters.mix().share;
    mix.read_operations = comm_.sum(own);
    mix.write_operations = all.operations - mix.read_operations;
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

/// What only this rank knows of its calls goes to a file of its own.
void Runner::save_calls(const Task& task, const Measured& m, Outcome& mine) const {
    const auto& prefix = setup_.parameters.save_calls;
    if (!prefix) return;
    // IOR's name, and the size where several are measured.
    const std::string size =
        setup_.parameters.transfers.size() > 1 ? fmt::format("-{}", task.transfer) : std::string();
    const std::string path = fmt::format("{}-{}{}-{}-{:05d}.csv", *prefix, name(task.access), size,
                                         task.repetition, comm_.rank());
    std::vector<const std::vector<CallTime>*> threads;
    for (const auto& lane : m.pass.lanes) threads.push_back(&lane.kept);
    const auto wrote = write_call_log(path, threads, static_cast<double>(task.transfer));
    if (!wrote) mine.fail(session_.signed_error(wrote.error()));
}

void Runner::finish(const Task& task, Measured& m, PhaseResult& result) {
    m.outcome.interrupted = session_.interrupted.load();
    save_calls(task, m, m.outcome);
    const Agreed agreed = agree(session_, comm_, m.outcome);
    result.errors = agreed.error_count;
    if (agreed.error) result.error_list.push_back(*agreed.error);
    note(agreed);
    result.valid = (!agreed.failed() || agreed.error->exit_code == ExitCode::data_errors) &&
                   result.stopped != StopReason::interrupted;
    result_.phases.push_back({task.access, task.transfer, task.repetition, result.valid,
                              result.rate(), result.total, result.bytes, result.stonewall,
                              result.steady, result.stopped});
}

/// What was written without an error must be there: libraries hide failures.
void Runner::check_sizes(const Task& task, const Measured& m, Outcome& mine) const {
    if (!real_files_ || mine.error) return;
    for (std::size_t i = 0; i < m.pass.lanes.size(); ++i) {
        const std::string path = path_of(task, worker(task.owner, i));
        const std::int64_t needed = m.pass.lanes[i].highest;
        // None of several files holds all; their formats know when they are closed.
        if (storage_.files_of(path).size() > 1) continue;
        const auto size = size_of(path);
        if (!size) {
            mine.fail(session_.signed_error(size.error()));
        } else if (*size < needed) {
            mine.fail(session_.signed_error(
                io_error("check the size", path,
                         fmt::format("the file holds {} bytes, {} were written without an error",
                                     *size, needed))));
        }
    }
}

}  // namespace effio::ior
