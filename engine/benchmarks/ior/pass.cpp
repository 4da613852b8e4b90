// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "core/hole.hpp"
#include "core/units.hpp"
#include "frame/memory_options.hpp"
#include "frame/paced_calls.hpp"
#include "parallel/wait.hpp"
#include "parallel/worker_threads.hpp"
#include "storage/as_itself.hpp"

namespace effio::ior {
namespace {

/// No file system leaves fewer bytes unwritten between others: they may be data of zeros.
constexpr std::int64_t least_hole = 512;

}  // namespace

/// Makes the calls of one worker.
class Pass::Worker {
  public:
    Worker(Session& session, const Calls& calls, double latest, WorkerShare& share,
           WorkerResult& done)
        : session_(session),
          calls_(calls),
          latest_(latest),
          share_(share),
          done_(done),
          bytes_(calls.bytes()),
          form_{Pointer::at, calls.collective} {
        time_calls(calls.access == Access::read);
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker() {
        if (share_.file) share_.file->time_calls_into(nullptr);
    }

    const WorkerShare& share() const { return share_; }
    WorkerResult& done() { return done_; }
    std::int64_t transfer_bytes() const { return bytes_; }
    /// Bytes moved by now, as other threads may see them.
    std::int64_t moved() const { return moved_.load(std::memory_order_relaxed); }

    void begin(double start) { start_ = noted_ = start; }

    /// Calls until the pace says stop; `tick` receives the time whenever the clock was read.
    template <class Pace, class Tick>
    void loop(Pace& pace, Tick&& tick) {
        if (calls_.queue_depth > 1) {
            queued(pace, tick);
        } else if (!calls_.is_plain()) {
            steps(pace, tick, [](Worker& w, std::int64_t number) { return w.step(number); });
        } else if (calls_.access == Access::write) {
            as_itself(*share_.file, [&](auto file) {
                steps(pace, tick, [file](Worker& w, std::int64_t number) {
                    return w.plain_write(file, number);
                });
            });
        } else {
            as_itself(*share_.file, [&](auto file) {
                steps(pace, tick, [file](Worker& w, std::int64_t number) {
                    return w.plain_read(file, number);
                });
            });
        }
        const double now = session_.clock.now();
        // What failed is not counted as done.
        done_.transfers = pace.done() - failed_;
        note(now, done_.transfers);
        done_.end = now - start_;
        done_.reason = pace.reason();
    }

  private:
    /// What a step holds fits into registers with this, and so it is not fetched for each call.
    template <class Pace, class Tick, class Step>
    void steps(Pace& pace, Tick& tick, Step step) {
        const auto next = [this, step](std::int64_t number) __attribute__((always_inline)) {
            if (number >= share_.transfers) [[unlikely]]
                number %= share_.transfers;
            if (step(*this, number)) [[likely]]
                return true;
            ++failed_;
            return false;
        };
        paced_calls(pace, next, [&] {
            note(pace.now(), pace.done() - failed_);
            tick(pace.now());
        });
    }

    /// Whether call `number` reads. Ranks that are in step do the same.
    bool reads(std::int64_t number) const {
        if (calls_.access != Access::mixed) return calls_.access == Access::read;
        return calls_.mix.reads(calls_.in_step ? 0 : share_.worker, number);
    }
    /// Those that the file times: a call that is synced is over when its sync is, and what is
    /// queued never comes by the file's calls.
    void time_calls(bool reading) {
        Histogram* const into = reading ? &reads_into() : &done_.calls;
        const bool by_file = calls_.time_calls && (reading || !calls_.sync_each);
        if (share_.file) share_.file->time_calls_into(by_file ? into : nullptr);
    }
    Histogram& reads_into() { return calls_.access == Access::mixed ? done_.reads : done_.calls; }
    void count_if_read(bool was_read) {
        if (was_read && calls_.access == Access::mixed) ++done_.read_calls;
    }

    /// When the call after `begun` others may begin, by the clock.
    double due_after(std::int64_t begun) const {
        const double due = start_ + static_cast<double>(begun) * calls_.call_seconds;
        return latest_ > 0 ? std::min(due, start_ + latest_) : due;
    }
    /// Time since the call was due, including the wait for earlier slow calls.
    void note_response(double due) {
        if (calls_.time_calls && calls_.call_seconds > 0) {
            done_.responses.add(session_.clock.now() - due);
        }
    }
    bool is_held(std::int64_t begun) const {
        return calls_.call_seconds > 0 && session_.clock.now() < due_after(begun) &&
               !session_.interrupted.load(std::memory_order_relaxed);
    }
    /// Waits until the call after `begun` others is due, with nothing under way.
    void hold(std::int64_t begun) {
        const Lap lap(session_.clock, done_.held_seconds);
        const double left = due_after(begun) - session_.clock.now();
        if (left > 0) wait_as_asked(session_, left);
    }

    /// As many calls under way as there are slots, in the walk's order as they are posted. What is
    /// under way when the pace says stop is waited for and counts. In collective calls, which
    /// nothing holds back, how many were posted follows from how many are over: on all ranks the
    /// same.
    template <class Pace, class Tick>
    void queued(Pace& pace, Tick& tick) {
        TransferQueue& queue = *share_.queue;
        std::int64_t next = pace.done();
        std::vector<std::size_t> free(share_.slots.size());
        std::iota(free.rbegin(), free.rend(), std::size_t{0});
        bool more = true;
        while (true) {
            const bool may_post = more && !free.empty() && next < pace.most();
            const bool held = is_held(next);
            if (may_post && !held) {
                post(queue, free.back(), next++);
                free.pop_back();
            } else if (free.size() < share_.slots.size()) {
                // What may be posted before the next one is over is not to wait for it.
                if (may_post && !queue.test()) continue;
                free.push_back(take(queue, pace));
                more = pace.go_on() && more;
                if (pace.ticked()) {
                    note(pace.now(), pace.done() - failed_);
                    tick(pace.now());
                }
            } else {
                if (held) hold(next);
                if (!may_post) break;
            }
        }
    }
    void post(TransferQueue& queue, std::size_t number, std::int64_t call) {
        const std::int64_t place = call < share_.transfers ? call : call % share_.transfers;
        Slot& slot = share_.slots[number];
        slot.offset = share_.walk->offset(place);
        slot.reads = reads(place);
        done_.highest = std::max(done_.highest, slot.offset + bytes_);
        if (calls_.time_calls) slot.posted = session_.clock.now();
        slot.due = due_after(call);
        if (slot.reads) {
            queue.post_read(number, slot.memory.bytes(), slot.offset);
        } else {
            queue.post_write(number, expected_in(slot), slot.offset);
        }
    }
    /// Waits for one, and gives its slot.
    template <class Pace>
    std::size_t take(TransferQueue& queue, Pace& pace) {
        Completion over = queue.wait();
        Slot& slot = share_.slots[over.slot];
        if (calls_.time_calls) {
            (slot.reads ? reads_into() : done_.calls).add(session_.clock.now() - slot.posted);
        }
        if (!accept(std::move(over.status), slot.offset)) {
            pace.failed();
            ++failed_;
            return over.slot;
        }
        note_response(slot.due);
        count_if_read(slot.reads);
        if (slot.reads && calls_.compare) {
            verify(expected_in(slot), slot.memory.bytes(), slot.offset);
        }
        return over.slot;
    }
    std::span<const std::byte> expected_in(Slot& slot) const {
        return slot.data->at(slot.offset, static_cast<std::size_t>(bytes_));
    }

    /// Notes what was moved since the clock was last read.
    [[gnu::noinline]] void note(double now, std::int64_t transfers) {
        const std::int64_t total = transfers * bytes_;
        done_.series.add(noted_ - start_, now - start_,
                         static_cast<double>(total - moved_.load(std::memory_order_relaxed)));
        moved_.store(total, std::memory_order_relaxed);
        noted_ = now;
    }

    // What is plain has no separate level, for the reason that byte_file.hpp gives.
    template <class File>
    [[gnu::always_inline]] bool plain_write(const Itself<File>& file, std::int64_t number) {
        const std::int64_t offset = share_.walk->offset(number);
        done_.highest = std::max(done_.highest, offset + bytes_);
        const auto data = share_.data->at(offset, static_cast<std::size_t>(bytes_));
        return accept(file.write_at(data, offset), offset);
    }
    template <class File>
    [[gnu::always_inline]] bool plain_read(const Itself<File>& file, std::int64_t number) {
        const std::int64_t offset = share_.walk->offset(number);
        done_.highest = std::max(done_.highest, offset + bytes_);
        return accept(file.read_at(share_.memory.bytes(), offset), offset);
    }

    /// With all that may be requested.
    bool step(std::int64_t number) {
        const std::int64_t offset = share_.walk->offset(number);
        // Through a view the calls count the bytes of the worker's own blocks.
        const std::int64_t place = calls_.placement == Placement::offset ? offset : number * bytes_;
        const std::int64_t end =
            calls_.placement == Placement::strided ? strided_end_ : offset + bytes_;
        done_.highest = std::max(done_.highest, end);
        const double before = calls_.keep_calls ? session_.clock.now() : 0.0;
        const bool reading = reads(number);
        if (calls_.access == Access::mixed) time_calls(reading);
        const bool good = reading ? read(offset, place) : write(offset, place);
        if (good) {
            note_response(due_after(begun_));
            count_if_read(reading);
        }
        if (calls_.keep_calls) {
            done_.kept.push_back({before - start_, session_.clock.now() - before});
        }
        if (is_held(++begun_)) hold(begun_);
        if (calls_.think_seconds > 0) {
            const Lap lap(session_.clock, done_.think_seconds);
            wait_as_asked(session_, calls_.think_seconds);
        }
        return good;
    }

    bool write(std::int64_t offset, std::int64_t place) {
        if (!calls_.sync_each) {
            return accept(write_call(offset, place), offset);
        }
        const CallStart begin = session_.clock.start_call();
        auto written = write_call(offset, place);
        // A rank that is in step syncs after a call that failed, too: the others wait there.
        if (written || calls_.in_step) {
            const Lap lap(session_.clock, done_.sync_seconds);
            auto synced = share_.file->sync();
            if (written) written = std::move(synced);
        }
        if (calls_.time_calls) {
            done_.calls.add_nanoseconds(session_.clock.nanoseconds_since(begin));
        }
        return accept(std::move(written), offset);
    }

    Status write_call(std::int64_t offset, std::int64_t place) {
        if (!share_.spaced) return share_.file->write(form_, expected(offset), place);
        {
            const Lap lap(session_.clock, done_.copy_seconds);
            share_.spaced->spread(expected(offset));
        }
        return share_.file->write_spaced(form_, share_.spaced->first(bytes_), place);
    }

    bool read(std::int64_t offset, std::int64_t place) {
        auto done = share_.spaced
                        ? share_.file->read_spaced(form_, share_.spaced->first(bytes_), place)
                        : share_.file->read(form_, share_.memory.bytes(), place);
        if (!accept(std::move(done), offset)) return false;
        if (!calls_.compare) return true;
        if (share_.spaced) take_pieces();
        verify(expected(offset), share_.memory.bytes(), offset);
        return true;
    }
    /// Moves the pieces to where data are compared.
    void take_pieces() {
        const Lap lap(session_.clock, done_.compare_seconds);
        share_.spaced->gather(share_.memory.bytes());
        if (share_.spaced->gaps_are_intact(bytes_)) return;
        done_.outcome.fail(session_.signed_error(changed_gap("verify", *share_.file)));
    }

    void verify(std::span<const std::byte> right, std::span<const std::byte> got,
                std::int64_t offset) {
        const Lap lap(session_.clock, done_.compare_seconds);
        done_.verified += bytes_;
        if (const auto bad = compare(right, got, 0); bad) {
            if (is_foreign(right, got)) done_.foreign += bytes_;
            if (bytes_ <= least_hole && is_hole(got)) done_.zeros += bytes_;
            wrong(offset, *bad);
        }
    }

    [[gnu::always_inline]] bool accept(Status status, std::int64_t offset) {
        return status ? true : refuse(std::move(status), offset);
    }
    [[gnu::noinline]] bool refuse(Status status, std::int64_t offset) {
        if (calls_.placement != Placement::offset) status.error().offset = offset;
        // What stops the pass outranks wrong data found before.
        done_.outcome.error.reset();
        done_.outcome.fail(std::move(status.error()));
        return false;
    }

    std::span<const std::byte> expected(std::int64_t offset) {
        if (calls_.placement == Placement::strided) return share_.strided.bytes();
        return share_.data->at(offset, static_cast<std::size_t>(bytes_));
    }

    /// Where byte `place` of the transfer at `offset` is in the file.
    std::int64_t file_place(std::int64_t offset, std::int64_t place) const {
        if (calls_.placement != Placement::strided) return offset + place;
        const std::int64_t transfer = calls_.geometry.transfer;
        return share_.walk->offset(place / transfer) + place % transfer;
    }

    void wrong(std::int64_t offset, const Mismatch& bad) {
        Mismatch placed = bad;
        placed.offset = file_place(offset, bad.offset);
        std::string text =
            fmt::format("{} of the {} of this call", placed.text(), exact_size(bytes_));
        if (const auto name = share_.file->name_of(placed.offset); !name.empty()) {
            text += counted_in_data(name);
        }
        Error error = io_error("verify", share_.file->path(), std::move(text));
        error.exit_code = ExitCode::data_errors;
        error.offset = placed.offset;
        done_.outcome.fail(session_.signed_error(std::move(error)));
    }

    Session& session_;
    const Calls& calls_;
    double latest_;  ///< seconds after the start from which nothing is held back; 0 = never
    WorkerShare& share_;
    WorkerResult& done_;
    std::int64_t bytes_;
    CallForm form_;
    std::int64_t strided_end_ =
        calls_.geometry.blocks().offset(0, calls_.geometry.blocks().transfers() - 1) +
        calls_.geometry.transfer;
    double start_ = 0;
    double noted_ = 0;
    std::int64_t failed_ = 0;
    std::int64_t begun_ = 0;  ///< calls, where one is made after the other
    std::atomic<std::int64_t> moved_{0};
};

PassDone Pass::run(std::vector<WorkerShare>& shares) {
    PassDone all;
    all.results.resize(shares.size());
    std::vector<std::unique_ptr<Worker>> workers;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        workers.push_back(
            std::make_unique<Worker>(session_, calls_, until_.seconds, shares[i], all.results[i]));
    }
    if (calls_.in_step) {
        run_together(*workers.front(), all.results.front(), all);
    } else {
        run_apart(workers, all);
    }
    return all;
}

/// Ranks that are in step end at the same call; there is nothing to wear out.
void Pass::run_together(Worker& worker, WorkerResult& done, PassDone& all) {
    const double start = session_.clock.now();
    worker.begin(start);
    if (worker.share().transfers == 0) return;
    Deadline::Limits limits;
    limits.start = start;
    limits.seconds = until_.seconds;
    limits.max_count = worker.share().transfers;
    limits.min_seconds = until_.min_seconds;
    limits.at_count = until_.is_cut ? StopReason::cap : StopReason::count;
    SlicedVote vote(comm_, session_.interrupted, limits, until_.steady, until_.steady_slice);
    worker.loop(vote, [](double) {});
    all.vote_seconds = vote.vote_seconds();
    done.wall = {done.transfers, done.end, done.reason};
    if (auto verdict = vote.verdict(); verdict) {
        const double bytes = static_cast<double>(worker.transfer_bytes()) * comm_.size();
        all.steady = {verdict->mean * bytes, verdict->range * bytes, verdict->drift * bytes,
                      verdict->steady};
    }
}

void Pass::run_apart(std::vector<std::unique_ptr<Worker>>& workers, PassDone& all) {
    WorkerThreads threads(static_cast<int>(workers.size()));
    std::atomic<StopReason> stop_reason{StopReason::none};
    std::optional<SteadyWatch> watch;
    const Clock& clock = session_.clock;
    double start = 0;
    const auto moved = [&workers] {
        std::int64_t sum = 0;
        for (const auto& worker : workers) sum += worker->moved();
        return sum;
    };
    threads.run([&](int number) {
        Worker& worker = *workers[static_cast<std::size_t>(number)];
        WorkerResult& done = worker.done();
        threads.meet(number, [&] {
            start = clock.now();
            if (until_.steady) {
                watch.emplace(comm_, *until_.steady, start, until_.steady_slice);
            }
        });
        worker.begin(start);
        Deadline::Limits limits;
        limits.start = start;
        limits.seconds = until_.seconds;
        limits.max_count = worker.share().transfers;
        limits.min_seconds = until_.min_seconds;
        limits.at_count = until_.is_cut ? StopReason::cap : StopReason::count;
        Deadline pace(clock, session_.interrupted, limits, &stop_reason);
        const auto tick = [&](double now) {
            if (number == 0 && watch && watch->poll(now, moved())) {
                stop_reason.store(StopReason::steady, std::memory_order_relaxed);
            }
        };
        if (worker.share().transfers > 0) worker.loop(pace, tick);
        if (done.outcome.error && done.outcome.error->exit_code != ExitCode::data_errors) {
            stop_reason.store(StopReason::error, std::memory_order_relaxed);
        }
        done.wall = {done.transfers, done.end, done.reason};
        if (!until_.wear_out) return;
        threads.meet(number, [&] {
            const Lap lap(clock, all.vote_seconds);
            session_.progress.wait("stonewall");
            all.wall = meet_at_wall(comm_, all.standings());
        });
        // Whoever met an error or a signal does no more.
        if (done.reason != StopReason::time && done.reason != StopReason::count) return;
        if (worker.share().transfers == 0 || done.transfers >= all.wall->max_done) return;
        pace.wear_out(all.wall->max_done, until_.wear_out_seconds);
        worker.loop(pace, [](double) {});
    });
    if (watch) {
        const Lap lap(clock, all.vote_seconds);
        watch->finish([this] { session_.progress.beat(); });
        all.steady = watch->verdict();
    }
}

}  // namespace effio::ior
