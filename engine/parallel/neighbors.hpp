// SPDX-License-Identifier: BSD-3-Clause
// The groups of a job that runs several benchmarks, and the file by which they notify each other
// their ends. A file, because a group that hangs can make no MPI call, and its last words have to
// reach ranks on other nodes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "parallel/progress.hpp"

namespace effio {

class Neighbors {
  public:
    /// What a group has reported until now.
    struct Report {
        std::optional<ExitCode> ended;       ///< its last line is written and its files are gone
        std::optional<ExitCode> called_off;  ///< it ends the whole job
        std::string reason;
    };

    /// `names`: of the groups, as messages have them ("group 2 (mdtest)"); `mine`: index of this
    /// rank's. `grace_seconds`: how long a group may take to stop in order when another one ends
    /// the job.
    Neighbors(std::string path, std::vector<std::string> names, std::size_t mine,
              double grace_seconds)
        : path_(std::move(path)),
          names_(std::move(names)),
          mine_(mine),
          grace_seconds_(grace_seconds) {}

    const std::string& name() const { return names_[mine_]; }
    std::size_t number() const { return mine_ + 1; }
    std::size_t count() const { return names_.size(); }
    double grace_seconds() const { return grace_seconds_; }

    /// A line of the file; any rank, any thread.
    void write(const Json& line) const;
    /// This group has ended; nothing of it is left to do.
    void end(ExitCode status, const std::string& reason) const { send("end", status, reason); }
    /// This group ends the whole job: the others are to stop.
    void call_off(ExitCode status, const std::string& reason) const {
        send("call_off", status, reason);
    }
    /// Reports of the groups, by group.
    std::vector<Report> reports() const;

    /// Looks whether another group ended the job; true from then on. For one rank of a group.
    bool look();
    bool called_off() const { return called_off_.load(); }
    /// "group 2 (mdtest) ended the job: ..."; empty as long as none did.
    std::string cause() const;

    /// A sign of life of this group, which a thread next to its measurement gives once a second;
    /// in a file next to that of the ends. From one thread.
    void beat();
    /// Another group that has given no sign of life for `limit` seconds, but gave some before: its
    /// ranks are all stopped, together with their watchdog. Ends the job in its place, as
    /// ExitCode::hung. From the thread that beats.
    void find_frozen(double limit);

    /// Until each other group has ended or called off itself, at most for the grace and what
    /// removing files may take.
    void wait_for_others(Progress& progress) const;
    /// Until all groups have ended, as long at most. The worst of their codes and `mine`.
    ExitCode wait_for_all(Progress& progress, ExitCode mine) const;

  private:
    void send(const char* event, ExitCode status, const std::string& reason) const;
    template <class True>
    void wait_until(Progress& progress, True&& come) const;

    struct Signs {
        std::uint64_t count = 0;
        double since = 0;  ///< Clock::monotonic_seconds when it was first seen
    };

    std::string path_;
    std::vector<std::string> names_;
    std::size_t mine_;
    double grace_seconds_;
    std::uint64_t beats_ = 0;
    std::vector<Signs> seen_;
    std::atomic<bool> called_off_{false};
};

}  // namespace effio
