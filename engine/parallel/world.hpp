// SPDX-License-Identifier: BSD-3-Clause
// All ranks that the launcher started, from before MPI_Init until MPI_Finalize: what there is once
// in a job, however many benchmarks run in it.
#pragma once

#include <atomic>
#include <optional>

#include "parallel/gathering.hpp"
#include "parallel/sentinel.hpp"
#include "parallel/session.hpp"
#include "parallel/tick_clock.hpp"

namespace effio {

/// MPI from MPI_Init to MPI_Finalize. The sentinel's thread makes no MPI call, like the threads
/// that MPI libraries start themselves. MPI_THREAD_FUNNELED would make Open MPI lock in every call
/// (a sixth of an 8-byte message in memory), which no program that is measured against does.
class MpiRun {
  public:
    MpiRun();
    MpiRun(const MpiRun&) = delete;
    MpiRun& operator=(const MpiRun&) = delete;
    ~MpiRun() { finalize(); }
    void finalize();

  private:
    bool finalized_ = false;
};

/// The sentinel from before MPI is started until there is a session: ranks that never come, or a
/// file system that does not answer, end the job with words instead of hanging.
class SetUpWatch {
  public:
    SetUpWatch(Progress& progress, std::atomic<bool>& stop, const Sentinel::Settings& settings);
    void end() { sentinel_.reset(); }

  private:
    Clock clock_;
    Comm nobody_ = Comm::none(clock_);
    Results results_;
    Console console_{false, false};
    Session session_;
    std::optional<Sentinel> sentinel_;
};

class World {
  public:
    /// Starts MPI. `settings` are those of the sentinel that watches until `set_up_done`.
    explicit World(const Sentinel::Settings& settings);
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    /// Clock::monotonic_seconds just after MPI was started.
    double initialised() const { return readings_.after_mpi.monotonic_seconds; }
    /// Clocks just before and after.
    const StartReadings& readings() const { return readings_; }
    /// Set when a signal asks the job to stop.
    std::atomic<bool>& stop() { return stop_; }
    Progress& progress() { return progress_; }

    /// The job is what its launcher meant it to be, and not many processes that each believe to be
    /// alone.
    Status check() const;
    /// Ends the job while its other ranks may still be in MPI_Init: a launcher does not end it for
    /// a rank that leaves before that, and a rank that just leaves after it may have others end
    /// with errors and codes of MPI.
    [[noreturn]] static void call_off(ExitCode code);
    /// A session with a separate sentinel takes over.
    void set_up_done() { set_up_.end(); }
    /// Collective. The end of the process, next to which the session's sentinel still runs. Where
    /// several groups gather, all leave together. Returns the code that all ranks agreed on.
    ExitCode leave(Session& session, Comm& comm, ExitCode code, Gathering* gathering);

  private:
    Progress progress_;
    std::atomic<bool> stop_{false};
    SetUpWatch set_up_;
    StartReadings readings_;
    MpiRun mpi_;
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace effio
