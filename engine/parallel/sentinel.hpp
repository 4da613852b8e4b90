// SPDX-License-Identifier: BSD-3-Clause
// The thread next to the measurement on every rank: it takes the signals, watches for hangs and
// shows progress. It makes no MPI call.
#pragma once

#include <csignal>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "parallel/session.hpp"
#include "parallel/stuck_calls.hpp"

namespace effio {

/// Blocks SIGINT, SIGTERM and SIGUSR1 in this thread and all it starts; call before MPI_Init, so
/// that MPI's own threads leave the signals to the sentinel.
void block_stop_signals();

class Sentinel {
  public:
    struct Settings {
        /// Seconds without a sign of life after which the job is ended; 0 switches that off.
        double hang_limit_seconds = 60;
        /// This rank need not wait for another one that hangs in the same way to report it. Ranks
        /// that only wait for others always leave it to one that hangs in its own call.
        bool speaks_first = false;
        /// How the user sets it.
        std::string hang_limit_name = "--watchdog";
        /// Called on the showing rank about once a second with what happens now.
        std::function<void(const Progress::Snapshot&)> show;
        /// Called ten times a second, if set.
        std::function<void()> look;
    };

    /// `stop` is set when a signal asks the run to stop; a second signal ends the job at once.
    Sentinel(Session& session, std::atomic<bool>& stop, Settings settings);
    /// Ends the thread at once, without waiting for its next look.
    ~Sentinel();
    Sentinel(const Sentinel&) = delete;
    Sentinel& operator=(const Sentinel&) = delete;

  private:
    void watch(const std::stop_token& token);
    /// Reports on stderr and for the result file the call that this rank is in when the limit is
    /// reached.
    void report_call(const Progress::Snapshot& now, double silent_seconds) const;
    StuckCall stuck_call(const Progress::Snapshot& now, double silent_seconds) const;
    void end_hung(const Progress::Snapshot& now, double silent_seconds);
    /// On one rank of a group, about once a second: stops the group when another one has ended the
    /// job, in order if it can.
    void watch_neighbors(double now);
    /// Whether this is that rank.
    bool heeds() const;

    Session& session_;
    std::atomic<bool>& stop_;
    Settings settings_;
    double called_off_ = 0;  ///< when another group was found to have ended the job
    std::jthread thread_;    ///< last member: it must stop before the others go
};

}  // namespace effio
