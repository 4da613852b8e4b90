// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/pace.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "parallel/mpi_comm.hpp"

namespace effio {

std::string_view name(StopReason reason) {
    switch (reason) {
        case StopReason::count:
            return "count";
        case StopReason::time:
            return "time";
        case StopReason::cap:
            return "cap";
        case StopReason::steady:
            return "steady";
        case StopReason::interrupted:
            return "interrupted";
        case StopReason::error:
            return "error";
        case StopReason::none:
            break;
    }
    return "none";
}

Wall meet_at_wall(const Comm& comm, std::span<const StopPoint> mine) {
    // The smallest of a number is the largest of its negative: one reduction serves both.
    std::array<std::int64_t, 3> counts{-mine.front().done, mine.front().done, 0};
    std::array<double, 2> times{-mine.front().seconds, mine.front().seconds};
    std::array<std::int64_t, 3> sums{0, static_cast<std::int64_t>(mine.size()), 0};
    for (const StopPoint& s : mine) {
        counts[0] = std::max(counts[0], -s.done);
        counts[1] = std::max(counts[1], s.done);
        if (s.reason == StopReason::interrupted) counts[2] = 1;
        times[0] = std::max(times[0], -s.seconds);
        times[1] = std::max(times[1], s.seconds);
        sums[0] += s.done;
        if (s.reason == StopReason::time) ++sums[2];
    }
    comm.max(std::span<std::int64_t>(counts));
    comm.max(std::span<double>(times));
    comm.sum(std::span<std::int64_t>(sums));
    Wall wall;
    wall.min_done = -counts[0];
    wall.max_done = counts[1];
    wall.interrupted = counts[2] != 0;
    wall.first_seconds = -times[0];
    wall.last_seconds = times[1];
    wall.workers = sums[1];
    wall.mean_done = static_cast<double>(sums[0]) / static_cast<double>(sums[1]);
    wall.timed_out = sums[2];
    return wall;
}

bool Checkpoint::go_on() {
    const bool mine = interrupted_.load(std::memory_order_relaxed);
    const bool stop = comm_.max(mine ? 1 : 0) > 0;
    reason_ = stop ? StopReason::interrupted : StopReason::none;
    return !stop;
}

LoopLengths::LoopLengths(const Comm& comm, std::size_t series, double target_seconds)
    : comm_(comm), target_(target_seconds), counts_(series, first), limits_(series, first) {}

std::int64_t LoopLengths::limit_of(double seconds, double target) {
    if (!(seconds > 0)) return first;
    constexpr double most = 1e12;  // beyond what any clock can ask for
    return std::max(first, static_cast<std::int64_t>(std::min(most, 10 * target / seconds)));
}

std::int64_t LoopLengths::next_of(std::int64_t count, double seconds, double growth, double target,
                                  std::int64_t limit) {
    if (!(seconds > 0)) return count;
    const double wanted = static_cast<double>(count) / growth * std::max(1.0, target / seconds);
    const double allowed = std::min(wanted, static_cast<double>(limit));
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(allowed));
}

void LoopLengths::start(std::span<const double> seconds) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        limits_[i] = limit_of(seconds[i], target_);
        counts_[i] = limits_[i] / 2;
    }
    comm_.broadcast(std::span<std::int64_t>(counts_));
}

void LoopLengths::next(std::span<const double> seconds, double growth) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        counts_[i] = next_of(counts_[i], seconds[i], growth, target_, limits_[i]);
    }
    comm_.broadcast(std::span<std::int64_t>(counts_));
}

void LoopLengths::restart(std::int64_t count) {
    std::fill(counts_.begin(), counts_.end(), count);
}

bool Deadline::judge(double now) {
    const auto stop = [this](StopReason why) {
        reason_ = why;
        return false;
    };
    if (failed_) return stop(StopReason::error);
    const bool counted = limits_.max_count > 0 && done_ >= limits_.max_count;
    if (counted && limits_.min_seconds <= 0) return stop(limits_.at_count);
    // Beyond the count only the clock decides.
    if (counted) judge_at_ = never;
    if (!ticked_) return true;
    const double elapsed = now - limits_.start;
    if (counted && elapsed >= limits_.min_seconds) return stop(limits_.at_count);
    if (limits_.seconds > 0 && elapsed >= limits_.seconds) return stop(StopReason::time);
    if (interrupted_.load(std::memory_order_relaxed)) return stop(StopReason::interrupted);
    if (stopped_elsewhere_ == nullptr) return true;
    const StopReason stopped_elsewhere = stopped_elsewhere_->load(std::memory_order_relaxed);
    return stopped_elsewhere == StopReason::none || stop(stopped_elsewhere);
}

SlicedVote::SlicedVote(const Comm& comm, const std::atomic<bool>& interrupted,
                       Deadline::Limits limits, std::optional<SteadyRule::Settings> steady,
                       double slice_seconds)
    : comm_(comm),
      interrupted_(interrupted),
      limits_(limits),
      slice_seconds_(slice_seconds),
      ticker_(comm.clock()) {
    if (steady) rule_.emplace(*steady);
}

bool SlicedVote::vote() {
    const Clock& clock = comm_.clock();
    const double begin = clock.now();
    std::array<double, 3> most{begin - limits_.start, failed_ ? 1.0 : 0.0,
                               interrupted_.load(std::memory_order_relaxed) ? 1.0 : 0.0};
    comm_.max(std::span<double>(most));
    ++votes_;
    reason_ = judge(most[0], most[1] > 0, most[2] > 0);
    foresee(most[0]);
    vote_seconds_ += clock.now() - begin;
    return reason_ == StopReason::none;
}

StopReason SlicedVote::judge(double elapsed, bool failed, bool interrupted) {
    if (failed) return StopReason::error;
    if (interrupted) return StopReason::interrupted;
    if (limits_.max_count > 0 && done_ >= limits_.max_count && elapsed >= limits_.min_seconds) {
        return limits_.at_count;
    }
    if (limits_.seconds > 0 && elapsed >= limits_.seconds) return StopReason::time;
    // Votes meet the end of a slice within one operation; half a slice is not a sample.
    if (rule_ && elapsed - sample_begin_ >= 0.75 * slice_seconds_) {
        const auto operations = static_cast<double>(done_ - sample_done_);
        const bool steady = rule_->add(operations / (elapsed - sample_begin_));
        sample_begin_ = elapsed;
        sample_done_ = done_;
        if (steady) return StopReason::steady;
    }
    return StopReason::none;
}

void SlicedVote::foresee(double elapsed) {
    if (reason_ != StopReason::none) {
        vote_at_ = std::numeric_limits<std::int64_t>::max();
        return;
    }
    const auto all = static_cast<double>(done_);
    const auto latest = static_cast<double>(done_ - last_vote_done_);
    const double each = std::max(elapsed / all, (elapsed - last_vote_) / latest);
    last_vote_ = elapsed;
    last_vote_done_ = done_;
    double horizon = slice_seconds_;
    if (limits_.seconds > 0) horizon = std::min(horizon, limits_.seconds - elapsed);
    if (elapsed < limits_.min_seconds) horizon = std::min(horizon, limits_.min_seconds - elapsed);
    // A clock that has not moved yet foresees nothing.
    const double fits = each > 0 ? std::floor(horizon / each + 1e-9) : 1;
    vote_at_ = done_ + static_cast<std::int64_t>(std::clamp(fits, 1.0, 1e9));
    if (limits_.max_count > done_) vote_at_ = std::min(vote_at_, limits_.max_count);
}

struct SteadyWatch::Request {
    MPI_Request own = MPI_REQUEST_NULL;
};

SteadyWatch::SteadyWatch(const Comm& comm, SteadyRule::Settings settings, double start,
                         double slice_seconds)
    : comm_(comm),
      rule_(settings),
      slice_seconds_(slice_seconds),
      last_(start),
      request_(std::make_unique<Request>()) {}

SteadyWatch::~SteadyWatch() = default;

void SteadyWatch::hand_in(double rate, bool working) {
    sums_ = {rate, working ? 1.0 : 0.0};
    MPI_Iallreduce(MPI_IN_PLACE, sums_.data(), 2, MPI_DOUBLE, MPI_SUM, raw(comm_), &request_->own);
    pending_ = true;
}

bool SteadyWatch::arrived() {
    int done = 0;
    MPI_Test(&request_->own, &done, MPI_STATUS_IGNORE);
    return done != 0;
}

void SteadyWatch::judge() {
    pending_ = false;
    over_ = sums_[1] == 0;
    // From the first rank that has finished on the rate of all says nothing.
    if (static_cast<int>(sums_[1]) == comm_.size()) steady_ = rule_.add(sums_[0]);
}

bool SteadyWatch::poll(double now, std::int64_t bytes) {
    if (steady_) return true;
    if (!pending_ && now - last_ >= slice_seconds_) {
        hand_in(static_cast<double>(bytes - last_bytes_) / (now - last_), true);
        last_ = now;
        last_bytes_ = bytes;
        // In virtual time a rank's place in real time means nothing: all wait for each other.
        if (comm_.clock().is_virtual()) MPI_Wait(&request_->own, MPI_STATUS_IGNORE);
    }
    if (pending_ && arrived()) judge();
    return steady_;
}

void SteadyWatch::finish(const std::function<void()>& beat) {
    while (!steady_ && !over_) {
        if (!pending_) hand_in(0, false);
        while (!arrived()) {
            beat();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        judge();
    }
}

}  // namespace effio
