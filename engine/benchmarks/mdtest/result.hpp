// SPDX-License-Identifier: BSD-3-Clause
// What mdtest found, and who is notified.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/mdtest/parameters.hpp"
#include "benchmarks/mdtest/phases.hpp"
#include "core/batches.hpp"
#include "core/fields.hpp"
#include "core/record.hpp"
#include "core/series.hpp"
#include "core/stats.hpp"
#include "frame/observers.hpp"
#include "frame/until_ci.hpp"
#include "parallel/file_system.hpp"
#include "parallel/over_ranks.hpp"
#include "parallel/pace.hpp"

namespace effio::mdtest {

struct Setup {
    Parameters parameters;
    Workload workload;
    std::int64_t files = 0;  ///< of each rank: the workload's, or what the stonewall file says
    int ranks = 1;
    int nodes = 1;
    std::vector<int> node_of_rank;  ///< on the root
    std::string host;
    std::string date;
    std::optional<FileSystem> file_system;  ///< of the first directory
    std::vector<std::string> notes;  ///< what people should know before they read the numbers
};

/// A phase as one rank saw it.
struct RankDetail {
    std::int64_t operations = 0;  ///< without an error
    std::int64_t failed = 0;
    double work = 0;   ///< seconds to the end of its last call
    double total = 0;  ///< seconds to after the closing barrier
};

/// A phase of an iteration, of all ranks.
struct PhaseResult {
    const Phase* phase = nullptr;
    std::int64_t iteration = 0;
    int ranks = 1;
    int nodes = 1;
    bool unique = false;          ///< in a tree for each rank
    std::int64_t operations = 0;  ///< without an error
    std::int64_t failed = 0;
    std::int64_t bytes = 0;
    std::int64_t entries = 0;              ///< listed
    std::int64_t found = 0;                ///< by a search
    std::optional<std::int64_t> expected;  ///< to be found, if that was counted
    /// Over ranks: "total" from the agreed start to after the closing barrier, "work" to the end of
    /// the rank's own last call, "sync" of the file system, "hook" of the command after the phase
    /// if there is one, "barrier" the wait for the others.
    std::vector<Named<Spread>> seconds;
    std::optional<double> ended;  ///< of all ranks together, by the session's clock
    bool valid = true;
    std::string invalid_reason;
    StopReason stopped = StopReason::count;
    bool interrupted = false;  ///< a signal came, perhaps after the last call
    std::optional<Histogram> call_times;
    Batches batches;                       ///< operations per second
    TimeSeries over_time;                  ///< operations
    std::vector<RankValue> slowest;        ///< seconds of work
    std::vector<RankDetail> rank_details;  ///< if requested; on the root
    bool hook_failed = false;              ///< the command after the phase, on some rank
    std::optional<Wall> wall;
    std::optional<CacheEvidence> cache;  ///< of the phase that reads
    std::int64_t verified_bytes = 0;
    std::int64_t of_timed_reads = 0;  ///< of them, compared where the timed call put them
    std::int64_t error_count = 0;
    std::vector<Error> errors;

    double total_seconds() const { return seconds.front().value.max; }
    /// Operations per second: all of them over the time of the slowest rank.
    double rate() const { return static_cast<double>(operations) / total_seconds(); }
    bool has_rate() const { return valid && total_seconds() > 0 && operations > 0; }
    /// Of a phase without a rate.
    std::string why_no_rate() const {
        if (!valid) return "INVALID: " + invalid_reason;
        return total_seconds() > 0 ? "no operation was done" : "no time passed";
    }
};

/// What is on disk against what was made and removed without an error.
struct DiskCount {
    ItemKind thing = ItemKind::file;
    std::int64_t iteration = 0;
    int ranks = 1;
    bool unique = false;
    bool after_removal = false;
    std::int64_t expected = 0;
    std::int64_t found = 0;
    bool right() const { return expected == found; }
};

/// All iterations of a phase with one number of ranks.
struct PhaseSummary {
    const Phase* phase = nullptr;
    int ranks = 1;
    bool unique = false;
    Samples rates;               ///< of the valid ones, op/s
    std::vector<double> values;  ///< the same in their order
    Samples seconds;             ///< theirs
    /// Milliseconds that one operation took a rank, theirs.
    Samples milliseconds;
    std::int64_t invalid = 0;
    std::string why_invalid;  ///< the first
    std::int64_t errors = 0;  ///< of the valid ones: wrong data
};

struct RunResult {
    Setup setup;
    std::vector<PhaseSummary> phases;  ///< in the order of all_phases() for each number of ranks
    void add(const PhaseResult& result);
};

/// The mean rate of a phase, as the records report it.
UntilCi::Subject subject_of(const Phase& phase, int ranks, bool unique);

class Observer : public Interface {
  public:
    virtual void start(const Setup&) {}
    virtual void phase(const PhaseResult&) {}
    virtual void counted(const DiskCount&) {}
    virtual void end(const RunResult&) {}
};

/// As lines of the result file, and as tables for people.
std::unique_ptr<Observer> make_record_view(Recorder& recorder);
std::unique_ptr<Observer> make_console_view(Console& console, std::string result_path);

/// What the file of --save-rank-details contains. Results are those of the root.
class RankTable : public Interface {
  public:
    /// The first line, without its end.
    virtual std::string header() const = 0;
    /// Whole lines to add after a phase.
    virtual std::string phase(const PhaseResult& result) = 0;
    /// Whole lines to add after the last phase.
    virtual std::string end(const RunResult&) { return {}; }
};

/// A line for each rank of each phase.
std::unique_ptr<RankTable> make_rank_table();

Measurement to_measurement(const PhaseResult& result);
/// What the run line says of the benchmark.
Json describe(const Setup& setup);
/// All that is in its results.
ResultInfo result_info();

}  // namespace effio::mdtest
