// SPDX-License-Identifier: BSD-3-Clause
// The loop of a run: it repeats the measurement, remembers what failed, and stops where it has to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frame/benchmark.hpp"
#include "frame/until_ci.hpp"
#include "parallel/agree.hpp"

namespace effio {

/// What has a Comm is collective over it, and its answer is the same on all ranks of it. A failure
/// or a signal stops the run; wrong data do not.
class RunLoop {
  public:
    explicit RunLoop(Session& session) : session_(session) {}

    /// `work(i)` for each repetition until the run stops, all are done, or --until-ci needs no
    /// further one.
    template <class Work>
    void repeat(const Comm& comm, UntilCi& until_ci, Work&& work) {
        begin_ = session_.clock.now();
        for (std::int64_t i = 0; i < until_ci.most() && !stops_; ++i) {
            work(i);
            if (!stops_ && !until_ci.another(comm, session_.clock.now())) break;
        }
    }
    /// Since the first repetition started.
    double seconds() const { return session_.clock.now() - begin_; }
    /// The run has taken longer than this (0: no limit), by the root's clock.
    bool is_over(const Comm& comm, double limit_seconds) const;

    /// Stops the run if a signal asked any rank to.
    bool go_on(const Comm& comm);
    /// Agrees on what the ranks know: `mine`, without signals that are not in it.
    bool go_on(const Comm& comm, const Outcome& mine) {
        return note(effio::agree(session_, comm, mine));
    }
    /// The same where ranks of `comm` have no part in what the others agreed on.
    bool inform(const Comm& comm) { return go_on(comm, outcome_); }
    /// Agrees after a part of the run, on signals too.
    Agreed agree(const Comm& comm, Outcome mine);
    /// Records what the ranks agreed on; true if the run continues.
    bool note(const Agreed& agreed);
    /// The same, but a failure does not stop the run.
    void keep(const Agreed& agreed);
    void stop() { stops_ = true; }

    bool stops() const { return stops_; }
    /// The first of the most severe failures, and whether a signal stopped the run; no counts.
    const Outcome& outcome() const { return outcome_; }
    /// Failures and wrong data that were noted.
    std::int64_t errors() const { return errors_; }
    /// The first that was noted.
    const std::optional<Error>& wrong_data() const { return wrong_data_; }
    /// See ending_of; wrong data are errors() of `piece`.
    Ending ending(std::string_view before, std::string_view piece) const;

  private:
    Session& session_;
    double begin_ = 0;
    Outcome outcome_;
    std::int64_t errors_ = 0;
    std::optional<Error> wrong_data_;
    bool stops_ = false;
};

}  // namespace effio
