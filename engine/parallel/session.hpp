// SPDX-License-Identifier: BSD-3-Clause
// What one rank of a running group has at hand. Passed to everything; nothing of it is global.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "parallel/comm.hpp"
#include "parallel/neighbors.hpp"
#include "parallel/progress.hpp"
#include "parallel/results.hpp"

namespace effio {

namespace sion {
class OwnContainers;
}

/// Readable output of the group's root on stdout, kept apart from the live status line on stderr.
class Console {
  public:
    Console(bool enabled, bool status_line) : enabled_(enabled), status_line_(status_line) {}
    void print(const std::string& text);
    /// Replaces the status line (terminals) or prints one more line (logs).
    void status(const std::string& text);
    bool enabled() const { return enabled_; }

  private:
    std::mutex mutex_;
    bool enabled_;
    bool status_line_;
    bool status_shown_ = false;
};

struct Session;

/// Ends the whole job from any thread of any rank: writes the `end` line, removes what was created
/// (AtAbruptEnd), and leaves with the status' exit code; the launcher ends the other ranks. Other
/// groups of the job are notified, and get the time to write their last lines and to remove their
/// files; all leave with the worst code. Of a run that has finished only the process is ended.
[[noreturn]] void end_job(Session& session, const End& end);

struct Session {
    Session(Clock& the_clock, Comm& group, Progress& the_progress, Results& the_results,
            Console& the_console, const std::atomic<bool>& stop)
        : clock(the_clock),
          comm(group),
          progress(the_progress),
          results(the_results),
          console(the_console),
          interrupted(stop) {}

    Clock& clock;
    Comm& comm;  ///< the ranks of this group
    Progress& progress;
    Results& results;
    Console& console;
    const std::atomic<bool>& interrupted;  ///< a signal asked to stop
    int world_rank = 0;
    std::string host;
    double agree_deadline_seconds = 10;
    Neighbors* neighbors = nullptr;  ///< the groups of the job, if there are several
    double cap_share = 1;  ///< share of the file system that may be filled, if no option limits it
    /// Ranks of other groups that work at the same time on the storage that `sim` models.
    int ranks_of_others = 0;
    int nodes = 1;  ///< that the ranks of this group are on
    /// A node may see a name or a size that another node has changed a moment ago as it was before
    /// (storage/late_views.hpp).
    bool late_views = false;
    bool classic = false;  ///< the command line is that of an original, and so is what it allows
    /// The run's exit code, once its last line is written: whatever ends the process from then on,
    /// it leaves with this.
    std::atomic<std::optional<ExitCode>> finished = std::optional<ExitCode>();
    /// What this run knows of the containers that it wrote; null before the first one.
    std::shared_ptr<sion::OwnContainers> containers;
    /// After a failure this rank left a file open that its library would close, together with the
    /// other ranks, in MPI_Finalize, where it may hang or crash.
    bool left_open = false;

    /// Before what is said on stderr: whose words they are, where there are several groups.
    std::string speaker() const { return neighbors == nullptr ? "" : neighbors->name() + ": "; }

    /// The error with this rank and host in it.
    Error signed_error(Error error) const {
        if (error.rank < 0) error.rank = world_rank;
        if (error.host.empty()) error.host = host;
        return error;
    }

  private:
    friend class AtAbruptEnd;
    friend void end_job(Session& session, const End& end);
    std::mutex ending_;                            ///< held by the thread that ends the job
    std::vector<std::function<void()>> clean_up_;  ///< the last one first
};

/// As long as it lives, an end of the job that is not orderly does this first, without MPI, and
/// then what stood before. Made and gone in the order of a stack.
class AtAbruptEnd {
  public:
    AtAbruptEnd(Session& session, std::function<void()> act);
    AtAbruptEnd(const AtAbruptEnd&) = delete;
    AtAbruptEnd& operator=(const AtAbruptEnd&) = delete;
    ~AtAbruptEnd();

  private:
    Session& session_;
};

/// Leaves at once, without what libraries and MPI do at the end of a process.
[[noreturn]] void leave(ExitCode code);

}  // namespace effio
