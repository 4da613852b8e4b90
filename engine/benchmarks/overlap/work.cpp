// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/overlap/work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace effio::overlap {
namespace {

constexpr std::size_t chains = 8;
/// Long enough to know a piece's time within some per cent despite the clock and its neighbors.
constexpr double calibration_seconds = 0.02;

}  // namespace

Kernel::Kernel(WorkKind kind, std::int64_t memory_bytes)
    : kind_(kind),
      chains_(chains),
      memory_(kind == WorkKind::memory ? static_cast<std::size_t>(memory_bytes) : 0) {
    std::iota(chains_.begin(), chains_.end(), 1.0);
    if (kind == WorkKind::memory) std::fill(half(1).begin(), half(1).end(), 1.0);
}

std::span<double> Kernel::half(int which) {
    const std::size_t count = memory_.size() / 2 / sizeof(double);
    return {
        reinterpret_cast<double*>(memory_.bytes().data()) + static_cast<std::size_t>(which) * count,
        count};
}

void Kernel::compute() {
    std::array<double, chains> x{};
    std::copy(chains_.begin(), chains_.end(), x.begin());
    // The fixed point is 1: values stay finite and normal forever.
    for (int i = 0; i < rounds; ++i) {
        for (double& one : x) one = one * 0.999999 + 0.000001;
    }
    std::copy(x.begin(), x.end(), chains_.begin());
    result_ = x.back();
}

void Kernel::stream() {
    const auto to = half(0);
    const auto from = half(1);
    const std::size_t end = std::min(place_ + piece, to.size());
    for (std::size_t i = place_; i < end; ++i) to[i] = 0.5 * to[i] + from[i];
    result_ = to[place_];
    place_ = end < to.size() ? end : 0;
}

double Kernel::result() const {
    return result_;
}

void Work::calibrate() {
    if (session_.clock.is_virtual()) return;
    session_.comm.barrier();
    std::int64_t pieces = 1;
    const auto once = [&] {
        const double begin = session_.clock.now();
        for (std::int64_t i = 0; i < pieces; ++i) kernel_.step();
        session_.progress.beat();
        return session_.clock.now() - begin;
    };
    double seconds = once();
    while (seconds < calibration_seconds) {
        pieces *= 2;
        seconds = once();
    }
    // Whatever else the machine does only lengthens it.
    for (int again = 0; again < 2; ++again) seconds = std::min(seconds, once());
    piece_seconds_ = session_.comm.max(seconds / static_cast<double>(pieces));
}

Polls Work::plan(double seconds, std::int64_t polls) const {
    Polls plan{1, polls};
    if (piece_seconds_ > 0) {
        plan.units = std::max<std::int64_t>(1, std::llround(seconds / piece_seconds_));
    }
    plan.units = std::max(plan.units, polls + 1);
    return plan;
}

Work::Done Work::run(const Polls& plan, double seconds, const std::function<bool()>& poll) {
    Done done;
    const Clock& clock = session_.clock;
    double begin = clock.now();
    bool asks = poll != nullptr && plan.polls > 0;
    for (std::int64_t unit = 1; unit <= plan.units; ++unit) {
        if (clock.is_virtual()) {
            session_.clock.advance(seconds / static_cast<double>(plan.units));
        } else {
            kernel_.step();
        }
        session_.progress.beat();
        if (!asks || plan.due(unit) <= done.polls) continue;
        const double asked = clock.now();
        asks = poll();
        ++done.polls;
        const double answered = clock.now();
        done.seconds += asked - begin;
        done.poll_seconds += answered - asked;
        begin = answered;
    }
    done.seconds += clock.now() - begin;
    return done;
}

}  // namespace effio::overlap
