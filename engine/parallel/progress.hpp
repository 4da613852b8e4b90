// SPDX-License-Identifier: BSD-3-Clause
// What a rank is doing right now, for the watchdog and the live view.
//
// The measuring thread writes, the sentinel's thread reads. Marking a call costs two relaxed
// stores.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace effio {

class Progress {
  public:
    /// What the run is doing for the next while; shown to people.
    struct Step {
        std::string title;             ///< e.g. "write scatter 1 MiB"
        std::string path;              ///< file in use; empty if none
        double scheduled_seconds = 0;  ///< 0 if the step is not time-driven
        /// What storage may need in this step beyond the watchdog's limit, e.g. to flush caches.
        double allowance_seconds = 0;
        double plan_done = 0;          ///< fraction of the whole run finished before this step, 0…1
        double plan_seconds_left = 0;  ///< expected from the start of this step; 0 if unknown
        int ranks = 1;                 ///< that take part in it
        std::int64_t planned_bytes = 0;  ///< of this rank in this step; 0 if unknown
        double limit_seconds = 0;        ///< the most of the watchdog's limit here; 0: all of it
        double plan_share = 0;  ///< fraction of the whole run that this step is; 0 if unknown
    };

    struct Snapshot {
        Step step;
        const char* call = "";
        bool waits = false;  ///< in this call, for other ranks only
        std::uint64_t beats = 0;
        std::int64_t bytes_in_step = 0;  ///< of this rank
        double step_started = 0;         ///< Clock::monotonic_seconds
    };

    void begin(Step step);
    /// From now on in this step, storage may need `seconds` beyond the watchdog's limit.
    void allow(double seconds);
    /// This rank now enters `operation` (a string literal). Counts as a sign of life.
    void call(const char* operation) {
        call_.store(operation, std::memory_order_relaxed);
        beat();
    }
    /// The same of an operation in which this rank does nothing but wait for others.
    void wait(const char* operation) {
        wait_.store(operation, std::memory_order_relaxed);
        call(operation);
    }
    void beat() {
        beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void moved(std::int64_t bytes) {
        bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    }

    Snapshot snapshot() const;

  private:
    std::atomic<const char*> call_{"start"};
    std::atomic<const char*> wait_{nullptr};  ///< the last one of wait()
    std::atomic<std::uint64_t> beats_{0};
    std::atomic<std::int64_t> bytes_{0};
    mutable std::mutex mutex_;
    Step step_;
    std::int64_t bytes_at_begin_ = 0;
    double step_started_ = 0;
};

}  // namespace effio
