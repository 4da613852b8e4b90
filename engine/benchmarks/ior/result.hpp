// SPDX-License-Identifier: BSD-3-Clause
// Results of an IOR run, and the observer that receives them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/ior/parameters.hpp"
#include "core/batches.hpp"
#include "core/record.hpp"
#include "core/series.hpp"
#include "frame/observers.hpp"
#include "frame/until_ci.hpp"
#include "frame/visit.hpp"
#include "parallel/file_system.hpp"
#include "parallel/over_ranks.hpp"
#include "parallel/pace.hpp"
#include "storage/hints.hpp"

namespace effio::ior {

/// A run before its first phase; the same on all ranks.
struct Setup {
    Parameters parameters;
    int ranks = 1;  ///< that take part
    int nodes = 1;  ///< of them
    int min_ranks_on_node = 1;
    int max_ranks_on_node = 1;
    std::string backend;
    std::string backend_version;  ///< of its library; may be empty
    std::string path;             ///< of the shared file or the first file
    std::string existing;         ///< on the root: a file of these that was there before
    std::int64_t cap_bytes = 0;
    std::string cap_reason;
    std::optional<FileSystem> file_system;
};

/// How far the workers were when the stonewall fell; bytes of one worker.
struct StonewallResult {
    Wall wall;
    std::int64_t transfer = 1;
    double min_bytes() const { return static_cast<double>(wall.min_done * transfer); }
    double max_bytes() const { return static_cast<double>(wall.max_done * transfer); }
    double mean_bytes() const { return wall.mean_done * static_cast<double>(transfer); }
    double total_bytes() const { return mean_bytes() * static_cast<double>(wall.workers); }
    /// Seconds in which some workers had stopped and others still worked.
    double tail_seconds() const { return wall.last_seconds - wall.first_seconds; }
};

/// What one rank did in a phase, where that was requested.
struct RankDetail {
    double bytes = 0;
    double total = 0;     ///< seconds
    double transfer = 0;  ///< seconds
};

/// The two sides of a mixed phase.
struct MixResult {
    double asked_share = 0;  ///< of reads, 0 to 1
    std::int64_t read_operations = 0;
    std::int64_t write_operations = 0;
    std::int64_t call_bytes = 0;
    std::optional<Histogram> reads;  ///< where calls are timed
    std::optional<Histogram> writes;

    std::int64_t read_bytes() const { return read_operations * call_bytes; }
    std::int64_t write_bytes() const { return write_operations * call_bytes; }
};

/// Its rate counts from the start that the ranks agreed on to the end of the last one's close.
struct PhaseResult : VisitResult {
    std::int64_t repetition = 0;
    Access access = Access::write;
    Geometry geometry;
    std::uint64_t data_seed = 0;  ///< of the bytes, as --seed takes it
    int ranks = 1;
    int nodes = 1;

    /// open, transfer, sync (writing), close: from the first rank's begin to the last one's end.
    std::vector<PartSpan> spans;
    Spread rank_bytes;
    Spread rank_rate;  ///< bytes per second of a rank in the transfer part alone

    StopReason stopped = StopReason::none;
    std::optional<StonewallResult> stonewall;
    std::optional<SteadyRule::Verdict> steady;  ///< B/s of all ranks
    Batches batches;                            ///< B/s of the transfers
    TimeSeries series;                          ///< since the start of the transfers
    std::optional<MixResult> mix;
    std::vector<RankValue> slowest;        ///< seconds in the transfer part
    std::vector<RankDetail> rank_details;  ///< on the root

    double verify_seconds = 0;           ///< of the separate pass
    std::int64_t ranks_on_own_node = 0;  ///< reading: whose data come from their own node
    std::int64_t detours = 0;            ///< transfers that did not go the backend's way
    std::string remarked;                ///< what a reader must know of the number

    /// One more thing for that reader.
    void remark_on(const std::string& what);
    double total() const { return counted_seconds; }
    /// Without open, sync and close.
    double transfer_rate() const { return rate_of(bytes, span("transfer").seconds()); }
    double operation_rate() const { return rate_of(calls, span("transfer").seconds()); }
    const PartSpan& span(std::string_view part) const { return part_of(spans, part); }
};

/// What is left of a phase when it has been reported.
struct PhaseSummary {
    Access access = Access::write;
    std::int64_t transfer = 1;
    std::int64_t repetition = 0;
    bool valid = true;
    std::int64_t errors = 0;  ///< pieces with wrong data
    double rate = 0;
    double total = 0;
    std::int64_t bytes = 0;
    std::optional<StonewallResult> stonewall;
    std::optional<SteadyRule::Verdict> steady;
    StopReason stopped = StopReason::none;
};

struct RunResult {
    Setup setup;
    std::vector<PhaseSummary> phases;
    std::int64_t errors = 0;  ///< in data, and one for each phase that another error ended
    double seconds = 0;
    bool interrupted = false;
    bool out_of_time = false;  ///< --time-limit left phases out
};

/// The mean rate of an access with a transfer size, as the records report it.
UntilCi::Subject bandwidth_of(Access access, std::int64_t transfer);

class Observer : public Interface {
  public:
    /// On the root, before anything is announced or made: checks that its output can be written.
    virtual Status ready() { return {}; }
    virtual void start(const Setup&) {}
    virtual void phase(const PhaseResult&) {}
    virtual void removed(std::int64_t /*repetition*/, double /*seconds*/) {}
    /// The run is over; not called when the job had to be ended.
    virtual void end(const RunResult&) {}
};

}  // namespace effio::ior
