// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/progress.hpp"

#include "core/clock.hpp"

namespace effio {

void Progress::begin(Step step) {
    const std::lock_guard lock(mutex_);
    step_ = std::move(step);
    bytes_at_begin_ = bytes_.load(std::memory_order_relaxed);
    step_started_ = Clock::monotonic_seconds();
    beat();
}

void Progress::allow(double seconds) {
    const std::lock_guard lock(mutex_);
    step_.allowance_seconds = seconds;
    beat();
}

Progress::Snapshot Progress::snapshot() const {
    const std::lock_guard lock(mutex_);
    const char* const call = call_.load(std::memory_order_relaxed);
    return {step_,
            call,
            call == wait_.load(std::memory_order_relaxed),
            beats_.load(std::memory_order_relaxed),
            bytes_.load(std::memory_order_relaxed) - bytes_at_begin_,
            step_started_};
}

}  // namespace effio
