// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/overlap/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "benchmarks/overlap/views.hpp"
#include "core/balanced_order.hpp"
#include "core/pattern.hpp"
#include "core/units.hpp"
#include "frame/ending.hpp"
#include "frame/storage_options.hpp"
#include "storage/cache_watch.hpp"
#include "storage/threaded_queue.hpp"

namespace effio::overlap {

Runner::Runner(Job& job, const Parameters& parameters, const Target& target,
               std::vector<MethodStorage> methods, std::vector<Work>& works,
               std::vector<Observer*> observers)
    : job_(job),
      session_(job.session),
      parameters_(parameters),
      target_(target),
      methods_(std::move(methods)),
      works_(works),
      notify_(session_, std::move(observers)),
      common_(job.session.comm, job.topology),
      memory_(static_cast<std::size_t>(parameters.largest())),
      again_(parameters.verify ? static_cast<std::size_t>(parameters.largest()) : 0),
      loop_(session_),
      until_ci_(parameters.until_ci, parameters.repetitions, job.session.clock.now()) {
    // What an earlier run left must not pass for what was written.
    if (session_.comm.is_root()) generation_ = std::uint64_t{std::random_device{}()} << 32;
    session_.comm.broadcast(generation_);
    for (auto& method : methods_) method.generations.resize(parameters.transfers.size());
}

Ending Runner::run() {
    warm_up();
    const auto wrong_in_warm_up = loop_.wrong_data();  // not counted in any cell
    loop_.repeat(session_.comm, until_ci_, [this](std::int64_t i) { repeat(i); });
    notify_([&](Observer& o) { o.end(series_); });
    until_ci_.report(session_, "overlap");
    Ending ending = loop_.ending("cells", "wrong byte");
    if (wrong_in_warm_up) ending.errors.push_back(*wrong_in_warm_up);
    return ending;
}

/// Each method writes its whole file, and each operation is timed once: a computation that was not
/// given a length is as long as these say.
void Runner::warm_up() {
    std::vector<MethodStorage> able;
    for (auto& method : methods_) {
        if (loop_.stops()) return;
        if (warm_up(method)) able.push_back(std::move(method));
    }
    methods_ = std::move(able);
}

bool Runner::warm_up(MethodStorage& method) {
    begin_step(fmt::format("warm up {}", name(method.method)), method, 0);
    Outcome mine;
    create(method, mine);
    mine.interrupted = session_.interrupted.load();
    const Agreed agreed = agree(session_, session_.comm, mine);
    if (agreed.failed() && method.can_be_left_out &&
        agreed.error->exit_code == ExitCode::environment) {
        notify_([&](Observer& o) {
            o.left_out(fmt::format("{}: {}", name(method.method), agreed.error->cause));
        });
        return false;
    }
    if (!loop_.note(agreed)) return true;
    auto opened = open(method);
    if (!opened) return true;
    for (std::size_t size = 0; size < parameters_.transfers.size() && !loop_.stops(); ++size) {
        const auto once = [&](bool write) {
            prepare(*opened, write, size);
            if (!write) cold_of(method).before(job_.topology.is_node_leader());
            RankResult own = treat(Treatment::io, *opened, write, size, nullptr, {}, 0);
            Outcome outcome;
            if (!own.status) outcome.fail(session_.signed_error(std::move(own.status.error())));
            const double seconds = session_.comm.max(own.total);
            if (!go_on(outcome)) return seconds;
            Outcome data;
            CellResult uncounted;
            if (write) sync(*opened, data);
            if (!data.error) check(*opened, write, size, uncounted, data);
            go_on(data);
            return seconds;
        };
        // The first write of a place has to find room for it, which no later one has to.
        once(true);
        for (const bool write : parameters_.accesses()) {
            if (!loop_.stops()) asked_of(method, write, size) = once(write);
        }
    }
    // A file that failed is not closed: that is collective.
    if (!loop_.outcome().error) close(*opened);
    return true;
}

void Runner::create(MethodStorage& method, Outcome& mine) const {
    auto file = method.storage->open(session_.comm,
                                     {path_of(method), OpenMode::creating(), Element::byte, {}});
    if (!file) {
        mine.fail(session_.signed_error(std::move(file.error())));
        return;
    }
    if (auto closed = (*file)->close(); !closed) {
        mine.fail(session_.signed_error(std::move(closed.error())));
    }
}

void Runner::repeat(std::int64_t repetition) {
    // The state of the caches depends on the order of the methods.
    const auto order = balanced_order(methods_.size(), static_cast<std::size_t>(repetition));
    for (const bool write : parameters_.accesses()) {
        for (std::size_t size = 0; size < parameters_.transfers.size(); ++size) {
            for (Work& work : works_) {
                for (const auto i : order) {
                    measure(repetition, methods_[i], write, size, work);
                    if (loop_.stops()) return;
                }
            }
        }
    }
}

std::optional<Runner::Open> Runner::open(MethodStorage& method) {
    Outcome mine;
    Open opened{method, nullptr, nullptr};
    auto file = method.storage->open(session_.comm,
                                     {path_of(method), OpenMode::updating(), Element::byte, {}});
    if (!file) {
        mine.fail(session_.signed_error(std::move(file.error())));
    } else {
        opened.file = std::move(*file);
    }
    if (!go_on(mine)) return {};
    if (method.method != Method::blocking) {
        const std::array all{memory_.bytes()};
        auto queue = method.method == Method::thread ? make_threaded_queue(session_, *opened.file)
                                                     : opened.file->queue({.memory = all});
        if (!queue) {
            mine.fail(session_.signed_error(std::move(queue.error())));
        } else {
            opened.queue = std::move(*queue);
        }
        if (!go_on(mine)) return {};
    }
    return opened;
}

void Runner::close(Open& open) {
    open.queue.reset();
    Outcome mine;
    if (auto closed = open.file->close(); !closed) {
        mine.fail(session_.signed_error(std::move(closed.error())));
    }
    go_on(mine);
}

std::int64_t Runner::place_of(std::size_t size) const {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < size; ++i) before += bytes_of(i) * session_.comm.size();
    return before + bytes_of(size) * session_.comm.rank();
}

Cold Runner::cold_of(const MethodStorage& method) const {
    const Capabilities can = method.storage->capabilities();
    return {{session_.comm, job_.topology, target_.file_system(), can.real_files, can.cached},
            parameters_.cache,
            [path = path_of(method)](const Cold::Look& look) { look(path); }};
}

/// Untimed: the data that will be written, or nothing where data will be read.
void Runner::prepare(Open& open, bool write, std::size_t size) {
    const auto number = static_cast<std::uint64_t>(open.method.method);
    if (write) {
        open.method.generations[size] = ++generation_;
        Pattern(generation_, number, parameters_.data.shape()).fill(memory(size), place_of(size));
        return;
    }
    std::fill(memory(size).begin(), memory(size).end(), std::byte{0});
}

/// What is not in a queue is over when this returns.
Status Runner::begin(Open& open, bool write, std::size_t size) {
    const std::int64_t place = place_of(size);
    if (!open.queue) {
        return write ? open.file->write({}, memory(size), place)
                     : open.file->read({}, memory(size), place);
    }
    if (write) {
        open.queue->post_write(0, memory(size), place);
    } else {
        open.queue->post_read(0, memory(size), place);
    }
    return {};
}

Runner::RankResult Runner::treat(Treatment treatment, Open& open, bool write, std::size_t size,
                                 Work* work, const Polls& polls, double seconds) {
    const Clock& clock = session_.clock;
    RankResult own;
    const double begun = common_.start();
    double now = begun;
    const auto lap = [&] {
        const double before = std::exchange(now, clock.now());
        return now - before;
    };
    if (treatment != Treatment::work) {
        own.status = begin(open, write, size);
        own.post = lap();
    }
    if (treatment != Treatment::io) {
        const bool asks = treatment == Treatment::both && open.queue != nullptr;
        const auto done =
            work->run(polls, seconds,
                      asks ? std::function<bool()>([&] { return !open.queue->test(); })
                           : std::function<bool()>());
        own.computing = done.seconds;
        own.poll = done.poll_seconds;
        own.polls = done.polls;
        now = clock.now();
    }
    if (treatment != Treatment::work && open.queue) {
        own.status = open.queue->wait().status;
        own.wait = lap();
    }
    own.total = common_.late() + now - begun;
    return own;
}

void Runner::sync(Open& open, Outcome& mine) const {
    if (auto synced = open.file->sync(); !synced) {
        mine.fail(session_.signed_error(std::move(synced.error())));
    }
}

/// Untimed: what was written is read back, what was read is there already.
void Runner::check(Open& open, bool write, std::size_t size, CellResult& cell, Outcome& mine) {
    if (!parameters_.verify || !open.method.storage->capabilities().stores_data) return;
    auto found = memory(size);
    if (write) {
        found = again_.bytes().first(found.size());
        if (auto read = open.file->read({}, found, place_of(size)); !read) {
            mine.fail(session_.signed_error(std::move(read.error())));
            return;
        }
    }
    cell.verified_bytes += bytes_of(size);
    const Pattern pattern(open.method.generations[size],
                          static_cast<std::uint64_t>(open.method.method), parameters_.data.shape());
    if (const auto wrong = pattern.check(found, place_of(size))) {
        Error error = io_error("verify", path_of(open.method), wrong->text());
        error.exit_code = ExitCode::data_errors;
        error.offset = wrong->offset;
        mine.fail(session_.signed_error(std::move(error)));
        mine.error_count += wrong->wrong_bytes - 1;
    }
}

void Runner::measure(std::int64_t repetition, MethodStorage& method, bool write, std::size_t size,
                     Work& work) {
    const Comm& comm = session_.comm;
    CellResult cell;
    cell.point = {method.method, work.kind(), write, bytes_of(size)};
    cell.repetition = repetition;
    cell.ranks = comm.size();
    cell.nodes = job_.topology.nodes;
    cell.bytes = comm.size() * bytes_of(size);
    const double io = asked_of(method, write, size);
    cell.asked_seconds = work_seconds(
        parameters_.work_time ? std::optional(parameters_.work_time->count) : std::nullopt, io);
    const Polls polls = work.plan(cell.asked_seconds, parameters_.polls);
    begin_step(fmt::format("{} {} {}, repetition {}", name(method.method), write ? "write" : "read",
                           shown_size(Bytes{bytes_of(size)}), repetition + 1),
               method, 3 * cell.asked_seconds);
    auto opened = open(method);
    if (!opened) return;
    std::array<RankResult, 3> own;
    const auto at = [&](Treatment t) -> RankResult& { return own.at(static_cast<std::size_t>(t)); };
    for (const auto i : balanced_order(own.size(), static_cast<std::size_t>(repetition))) {
        const auto treatment = static_cast<Treatment>(i);
        const bool moves = treatment != Treatment::work;
        Outcome mine;
        if (moves) prepare(*opened, write, size);
        Cold cold = cold_of(method);
        if (moves && !write) cold.before(job_.topology.is_node_leader());
        std::optional<CacheWatch> watch;
        if (treatment == Treatment::both) {
            watch.emplace(comm, job_.topology, target_.file_system());
            watch->begin();
        }
        at(treatment) = treat(treatment, *opened, write, size, &work, polls, cell.asked_seconds);
        if (watch) {
            cell.ended = session_.clock.now();  // a check and other treatments may follow
            cell.cache = watch->end(cell.bytes, !write);
            cold.complete(*cell.cache, cell.bytes, !write);
        }
        Status& status = at(treatment).status;
        if (!status) mine.fail(session_.signed_error(std::move(status.error())));
        cell.valid = go_on(mine, &cell) || !loop_.outcome().error;
        if (!cell.valid) break;
        if (moves) {
            if (write) sync(*opened, mine);
            check(*opened, write, size, cell, mine);
            cell.valid = go_on(mine, &cell) || !loop_.outcome().error;
            if (!cell.valid) break;
        }
    }
    ++done_;
    cell.verified_bytes = comm.sum(cell.verified_bytes);
    cell.polls = comm.sum(at(Treatment::both).polls);
    const RankResult& both = at(Treatment::both);
    std::array<double, 8> longest{at(Treatment::io).total,
                                  at(Treatment::work).total,
                                  both.total,
                                  at(Treatment::work).computing,
                                  both.computing,
                                  both.post,
                                  both.poll,
                                  both.wait};
    comm.max(std::span<double>(longest));
    cell.times = {longest[0], longest[1], longest[2], longest[3],
                  longest[4], longest[5], longest[6], longest[7]};
    const std::array<NamedNumber, 5> parts{
        NamedNumber{"total", both.total}, NamedNumber{"post", both.post},
        NamedNumber{"compute", both.computing}, NamedNumber{"poll", both.poll},
        NamedNumber{"wait", both.wait}};
    cell.seconds = spread_over(comm, parts);
    if (cell.valid) {
        PointTimes& series = series_of(cell.point);
        series.asked_seconds = cell.asked_seconds;
        series.times.push_back(cell.times);
        for (const auto& [what, value] : timed_figures(cell.times)) {
            until_ci_.add({std::string(what), where_of(cell.point), "s", text_of(cell.point, what)},
                          value);
        }
    }
    notify_([&](Observer& o) { o.cell(cell); });
    if (cell.valid) close(*opened);
}

bool Runner::go_on(const Outcome& mine, CellResult* cell) {
    const Agreed agreed = loop_.agree(session_.comm, mine);
    if (cell != nullptr) {
        cell->error_count += agreed.error_count;
        if (agreed.error) cell->errors.push_back(*agreed.error);
    }
    return !loop_.stops();
}

void Runner::begin_step(const std::string& title, const MethodStorage& method, double seconds) {
    std::int64_t all = 0;
    for (const Bytes transfer : parameters_.transfers) all += transfer.count;
    const auto calls = static_cast<std::int64_t>(parameters_.transfers.size()) * 4;
    const double allowance = static_cast<double>(4 * all * session_.comm.size()) / slowest_storage +
                             seconds +
                             asked_wait(parameters_.backend_of(method.method), calls, 4 * all);
    const auto cells =
        static_cast<double>(parameters_.repetitions) *
        static_cast<double>(parameters_.accesses().size() * parameters_.transfers.size() *
                            works_.size() * methods_.size());
    session_.progress.begin({.title = title,
                             .path = path_of(method),
                             .allowance_seconds = allowance,
                             .plan_done = std::min(1.0, static_cast<double>(done_) / cells),
                             .ranks = session_.comm.size()});
}

PointTimes& Runner::series_of(const Point& point) {
    const auto found = std::find_if(series_.begin(), series_.end(),
                                    [&](const PointTimes& s) { return s.point == point; });
    if (found != series_.end()) return *found;
    series_.push_back({point, {}, 0});
    return series_.back();
}

double& Runner::asked_of(const MethodStorage& method, bool write, std::size_t size) {
    const Point point{method.method, WorkKind::compute, write, bytes_of(size)};
    const auto found = std::find_if(asked_.begin(), asked_.end(),
                                    [&](const auto& one) { return one.point == point; });
    if (found != asked_.end()) return found->seconds;
    return asked_.emplace_back(point, 0.0).seconds;
}

}  // namespace effio::overlap
