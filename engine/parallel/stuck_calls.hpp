// SPDX-License-Identifier: BSD-3-Clause
// The calls that the ranks of a hanging run are in, for its result file.
//
// Ranks that hang cannot send messages. Each one appends a line to a file next to the result file,
// and the rank that ends the run moves these lines into the `end` line. A rank that does not see
// the file (no common file system) is missing from the list.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"

namespace effio {

/// Where one rank was when the watchdog's limit was over.
struct StuckCall {
    int rank = 0;
    std::string host;
    std::string call;    ///< "MPI_File_write_all"
    std::string step;    ///< what the run was doing
    bool waits = false;  ///< the rank only waits for other ranks in this call
    double silent_seconds = 0;

    Json to_json() const;
    static StuckCall from(const Json& line);
};

/// One entry for each different call, step and `waits`, with its ranks in ascending order, their
/// hosts and the longest silence. Calls that do not wait come first, then by rank.
Json distinct_calls(std::vector<StuckCall> calls);

/// The file in which the ranks of the run with this result file note their calls.
std::string calls_path(const std::string& result_path);
/// Appends the call, unless the run has its `end` line. Failures are ignored: the call is also on
/// stderr. May block as long as the file system does.
void note_stuck_call(const std::string& result_path, const StuckCall& call);
/// The noted calls; the file is removed.
std::vector<StuckCall> take_stuck_calls(const std::string& result_path);

}  // namespace effio
