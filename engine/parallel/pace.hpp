// SPDX-License-Identifier: BSD-3-Clause
// The only place where ranks agree to continue or to stop.
//
// A policy is asked once after every operation: `while (policy.go_on());`. What a policy costs in
// communication is inside the measured interval exactly where the benchmark's definition puts it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/series.hpp"
#include "parallel/comm.hpp"

namespace effio {

enum class StopReason : char {
    none = 0,     ///< continue
    count,        ///< the fixed number of operations is done
    time,         ///< the time is used up (or would be by one more operation)
    cap,          ///< the share of the cap on bytes is used up
    steady,       ///< the rate of all ranks is steady
    interrupted,  ///< a signal asked to stop
    error,        ///< an operation failed
};

std::string_view name(StopReason reason);

/// A fixed number of operations, without any communication.
class FixedCount {
  public:
    explicit FixedCount(std::int64_t count) : count_(count) {}
    bool go_on() { return ++done_ < count_; }
    void failed() {}
    std::int64_t done() const { return done_; }
    StopReason reason() const { return StopReason::count; }

  private:
    std::int64_t count_;
    std::int64_t done_ = 0;
};

/// The root's vote after every operation, as b_eff_io 2.1 defines it: a barrier; the root continues
/// iff one more operation of the average length so far is predicted to fit,
///     elapsed * (r + 1) / r <= budget,
/// with r operations done and elapsed from `start` to after that barrier; one byte is broadcast.
class RootVote {
  public:
    struct Limits {
        double start = 0;  ///< clock reading at which the budget begins
        double budget_seconds = 0;
        std::int64_t max_count = 0;  ///< the cap's share; 0 = none. At least one operation is done.
    };

    RootVote(const Comm& comm, const std::atomic<bool>& interrupted, Limits limits)
        : comm_(comm), interrupted_(interrupted), limits_(limits) {}

    bool go_on() { return go_on(comm_.clock().now()); }
    /// The same with a reading of the clock that the caller has at hand, from the operation's end.
    /// Inlined, for the reason that byte_file.hpp gives: ranks that wait for each other may be in
    /// the kernel.
    [[gnu::always_inline]] bool go_on(double end_of_operation) {
        ++done_;
        const Clock& clock = comm_.clock();
        comm_.barrier();
        const double after_barrier = clock.now();
        char vote = static_cast<char>(StopReason::none);
        if (comm_.is_root()) {
            const auto r = static_cast<double>(done_);
            const double elapsed = after_barrier - limits_.start;
            StopReason decision = StopReason::none;
            if (failed_) {
                decision = StopReason::error;
            } else if (interrupted_.load(std::memory_order_relaxed)) {
                decision = StopReason::interrupted;
            } else if (elapsed * (r + 1) / r > limits_.budget_seconds) {
                decision = StopReason::time;
            } else if (limits_.max_count > 0 && done_ >= limits_.max_count) {
                decision = StopReason::cap;
            }
            vote = static_cast<char>(decision);
        }
        comm_.broadcast(vote);
        now_ = clock.now();
        barrier_ += after_barrier - end_of_operation;
        broadcast_ += now_ - after_barrier;
        last_vote_ = now_ - end_of_operation;
        reason_ = static_cast<StopReason>(vote);
        return reason_ == StopReason::none;
    }
    /// The clock at the end of the latest vote.
    double now() const { return now_; }
    /// The operation just done failed; counts on the root, who then votes to stop.
    void failed() { failed_ = true; }
    std::int64_t done() const { return done_; }
    StopReason reason() const { return reason_; }
    /// Seconds of this rank in all barriers and broadcasts so far, and in those after the last
    /// operation.
    double barrier_seconds() const { return barrier_; }
    double broadcast_seconds() const { return broadcast_; }
    double last_vote_seconds() const { return last_vote_; }

  private:
    const Comm& comm_;
    const std::atomic<bool>& interrupted_;
    Limits limits_;
    std::int64_t done_ = 0;
    bool failed_ = false;
    StopReason reason_ = StopReason::none;
    double barrier_ = 0;
    double broadcast_ = 0;
    double last_vote_ = 0;
    double now_ = 0;
};

/// A worker's own deadline and count, without any communication: the "stonewall" of IOR and mdtest.
/// At least one operation is done; the one that ends past the deadline is the last. Signals and
/// reasons reported by others are looked for whenever the clock is read.
class Deadline {
  public:
    struct Limits {
        double start = 0;            ///< clock reading at which the time begins
        double seconds = 0;          ///< 0 = no deadline
        std::int64_t max_count = 0;  ///< 0 = no limit
        double min_seconds = 0;      ///< a count that is reached earlier does not stop
        StopReason at_count = StopReason::count;

        /// No more than this many operations are to be begun.
        std::int64_t most() const {
            return max_count > 0 && min_seconds <= 0 ? max_count
                                                     : std::numeric_limits<std::int64_t>::max();
        }
    };

    /// `stopped_elsewhere`, if given, stops this worker when another one puts a reason there.
    Deadline(const Clock& clock, const std::atomic<bool>& interrupted, Limits limits,
             const std::atomic<StopReason>* stopped_elsewhere = nullptr)
        : interrupted_(interrupted),
          stopped_elsewhere_(stopped_elsewhere),
          limits_(limits),
          ticker_(clock) {
        judge_at_ = limits_.max_count > 0 ? limits_.max_count : never;
    }

    /// Reads the clock as often as Ticker does, so that the deadline is met within one operation
    /// or about a millisecond.
    bool go_on() {
        ++done_;
        ticked_ = ticker_.tick();
        if (!ticked_ && done_ < judge_at_) [[likely]]
            return true;
        return judge(ticker_.now());
    }
    /// The same with a reading of the clock that the caller has at hand.
    bool go_on(double now) {
        ++done_;
        ticked_ = true;
        return judge(now);
    }
    /// The operation just done failed: it is the last.
    void failed() {
        failed_ = true;
        judge_at_ = 0;
    }
    /// Wear-out: from now on this count, in all, is the limit, and no deadline but `seconds` from
    /// the start if given. There is more to do if it is above done().
    void wear_out(std::int64_t count, double seconds = 0) {
        limits_.seconds = seconds;
        limits_.min_seconds = 0;
        limits_.max_count = count;
        judge_at_ = count;
    }
    std::int64_t done() const { return done_; }
    /// No more than this many operations are to be begun.
    std::int64_t most() const { return limits_.most(); }
    StopReason reason() const { return reason_; }
    /// Whether go_on() just read the clock, and its latest reading.
    bool ticked() const { return ticked_; }
    double now() const { return ticker_.now(); }

  private:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    bool judge(double now);

    const std::atomic<bool>& interrupted_;
    const std::atomic<StopReason>* stopped_elsewhere_;
    Limits limits_;
    Ticker ticker_;
    std::int64_t done_ = 0;
    std::int64_t judge_at_;  ///< where the count matters, the clock read or not
    bool failed_ = false;
    bool ticked_ = false;
    StopReason reason_ = StopReason::none;
};

/// Where a worker stood when it met its deadline or count.
struct StopPoint {
    std::int64_t done = 0;
    double seconds = 0;  ///< from its start to its last operation's end
    StopReason reason = StopReason::none;
};

/// How far the workers of all ranks were. Wear-out continues to `max_done`.
struct Wall {
    std::int64_t min_done = 0;
    std::int64_t max_done = 0;
    double mean_done = 0;
    double first_seconds = 0;    ///< the first worker to stop
    double last_seconds = 0;     ///< the last one
    std::int64_t workers = 0;    ///< of all ranks
    std::int64_t timed_out = 0;  ///< how many of them the time stopped
    bool interrupted = false;    ///< a signal stopped one of them
};

/// Collective; each rank has at least one worker.
Wall meet_at_wall(const Comm& comm, std::span<const StopPoint> mine);

/// All ranks' vote at the borders of a fixed plan: continue unless a signal asked any of them to
/// stop. One number is reduced.
class Checkpoint {
  public:
    Checkpoint(const Comm& comm, const std::atomic<bool>& interrupted)
        : comm_(comm), interrupted_(interrupted) {}
    bool go_on();
    StopReason reason() const { return reason_; }

  private:
    const Comm& comm_;
    const std::atomic<bool>& interrupted_;
    StopReason reason_ = StopReason::none;
};

/// How many loops a growing operation runs, from the time that the size before took, so that each
/// size takes about `target` seconds in all (docs/definitions/b-eff.md, Loops). Several series
/// (methods) at once. The root decides by its own times; the counts are broadcast, and are the same
/// on all ranks after each call.
class LoopLengths {
  public:
    static constexpr std::int64_t first = 10;  ///< loops of the pass that calibrates

    LoopLengths(const Comm& comm, std::size_t series, double target_seconds);

    /// After `first` loops of the smallest size took `seconds` by series.
    void start(std::span<const double> seconds);
    /// The next size is `growth` times as large; the one before took `seconds`.
    void next(std::span<const double> seconds, double growth);
    /// From now on `count` loops, whatever was before.
    void restart(std::int64_t count);

    std::int64_t operator[](std::size_t series) const { return counts_[series]; }

    /// The upper limit: max(10, int(10 target / seconds)); 10 where no time has passed.
    static std::int64_t limit_of(double seconds, double target);
    /// max(1, min(int(count / growth * max(1, target / seconds)), limit)); `count` where no time
    /// has passed.
    static std::int64_t next_of(std::int64_t count, double seconds, double growth, double target,
                                std::int64_t limit);

  private:
    const Comm& comm_;
    double target_;
    std::vector<std::int64_t> counts_;
    std::vector<std::int64_t> limits_;
};

/// All ranks stop after the same operation, as collective calls demand, without a vote after each:
/// they vote once a slice of time. The number of operations until the next vote is foreseen from
/// the slower of the average and the latest operation, and never reaches beyond a limit; a vote is
/// one reduction of three numbers. With `steady` the ranks also judge their rate from slice to
/// slice.
class SlicedVote {
  public:
    SlicedVote(const Comm& comm, const std::atomic<bool>& interrupted, Deadline::Limits limits,
               std::optional<SteadyRule::Settings> steady = {}, double slice_seconds = 1);

    bool go_on() {
        ++done_;
        ticked_ = ticker_.tick();
        return done_ < vote_at_ || vote();
    }
    /// The operation just done failed; the ranks stop at the next vote and stay in step until then.
    void failed() { failed_ = true; }
    std::int64_t done() const { return done_; }
    /// No more than this many operations are to be begun. What is under way when a vote says stop
    /// may be counted afterwards; no rank votes on it.
    std::int64_t most() const { return limits_.most(); }
    StopReason reason() const { return reason_; }
    bool ticked() const { return ticked_; }
    double now() const { return ticker_.now(); }
    std::int64_t votes() const { return votes_; }
    /// Seconds of this rank in all votes.
    double vote_seconds() const { return vote_seconds_; }
    std::optional<SteadyRule::Verdict> verdict() const {
        return rule_ ? rule_->verdict() : std::nullopt;
    }

  private:
    bool vote();
    StopReason judge(double elapsed, bool failed, bool interrupted);
    void foresee(double elapsed);

    const Comm& comm_;
    const std::atomic<bool>& interrupted_;
    Deadline::Limits limits_;
    std::optional<SteadyRule> rule_;
    double slice_seconds_;
    Ticker ticker_;
    std::int64_t done_ = 0;
    std::int64_t vote_at_ = 1;
    bool failed_ = false;
    bool ticked_ = false;
    StopReason reason_ = StopReason::none;
    std::int64_t votes_ = 0;
    double vote_seconds_ = 0;
    double last_vote_ = 0;  ///< elapsed at it
    std::int64_t last_vote_done_ = 0;
    double sample_begin_ = 0;  ///< of the slice whose rate is judged next
    std::int64_t sample_done_ = 0;
};

/// Watches the rate of all ranks while each works by itself: once a slice of time every rank hands
/// in its own rate in a reduction that no rank waits for, and all judge the same sums. One thread
/// of a rank calls it.
class SteadyWatch {
  public:
    SteadyWatch(const Comm& comm, SteadyRule::Settings settings, double start,
                double slice_seconds = 1);
    SteadyWatch(const SteadyWatch&) = delete;
    SteadyWatch& operator=(const SteadyWatch&) = delete;
    ~SteadyWatch();

    /// `bytes` were moved by this rank until `now`. True once the rate is steady.
    bool poll(double now, std::int64_t bytes);
    /// Collective: this rank's loop is over; stays in step until the others' are too. `beat` is
    /// called while it waits.
    void finish(const std::function<void()>& beat);

    bool steady() const { return steady_; }
    std::optional<SteadyRule::Verdict> verdict() const { return rule_.verdict(); }

  private:
    void hand_in(double rate, bool working);
    bool arrived();
    void judge();

    const Comm& comm_;
    SteadyRule rule_;
    double slice_seconds_;
    double last_;  ///< clock reading at the end of the slice before
    std::int64_t last_bytes_ = 0;
    std::array<double, 2> sums_{};  ///< the rate, and how many ranks still work
    struct Request;
    std::unique_ptr<Request> request_;
    bool pending_ = false;
    bool steady_ = false;
    bool over_ = false;  ///< no rank works any more
};

}  // namespace effio
