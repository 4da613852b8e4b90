// SPDX-License-Identifier: BSD-3-Clause
// What one rank knows of a pass while its visit lasts.
#pragma once

#include "frame/study/measure.hpp"
#include "frame/study/mover.hpp"

namespace effio::study {

struct Measure::Done {
    Pass pass;
    Moved moved;
    Outcome outcome;
    Visited seen;
    std::uint64_t generation = 0;  ///< of what was written or should be read
    ArrayTotals totals;            ///< of files of arrays
    std::int64_t overhead = 0;     ///< bytes that the file holds in addition to the data
    std::string call;
    GrantedHints granted;
    Json library = Json::object();
    std::int64_t of_timed_reads = 0;   ///< bytes compared where these put them
    std::int64_t of_second_reads = 0;  ///< bytes compared as an untimed read found them
    std::int64_t not_verifiable = 0;   ///< bytes written that are overwritten unread
    std::optional<Footprint> on_disk;  ///< of this rank's share
    std::vector<RemovedFile> removed;  ///< by this rank
    bool valid = true;
};

}  // namespace effio::study
