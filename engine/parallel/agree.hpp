// SPDX-License-Identifier: BSD-3-Clause
// One outcome out of many ranks' outcomes.
#pragma once

#include <cstdint>
#include <optional>

#include "parallel/session.hpp"

namespace effio {

/// What one rank knows.
struct Outcome {
    std::optional<Error> error;    ///< the first failure, if any
    std::int64_t error_count = 0;  ///< failures and wrong data
    bool interrupted = false;
    void fail(Error e) {
        ++error_count;
        if (!error) error = std::move(e);
    }
};

/// What all ranks of the group know after they agreed; the same on each.
struct Agreed {
    std::int64_t error_count = 0;
    bool interrupted = false;
    /// The first failure of the lowest rank that has one (of the worst exit code).
    std::optional<Error> error;
    bool failed() const { return error.has_value(); }
};

/// Collective over `comm`. A rank that has an error waits for the others at most
/// `session.agree_deadline_seconds`: MPI libraries leave ranks hanging in calls that failed
/// elsewhere (Open MPI's OMPIO in MPI_File_sync after ENOSPC), so no reduction could show them.
/// After the deadline the rank ends the job with what it knows.
Agreed agree(Session& session, const Comm& comm, const Outcome& mine);

}  // namespace effio
