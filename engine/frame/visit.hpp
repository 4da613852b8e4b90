// SPDX-License-Identifier: BSD-3-Clause
// One visit to files by the ranks of a communicator, or one pass of it: open, move, sync, close;
// timed by part, watched, agreed on, sized, and summed up over the ranks. What all benchmarks share
// that open a file, move data and close it again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "core/record.hpp"
#include "frame/cold.hpp"
#include "frame/phases.hpp"
#include "frame/rank_csv.hpp"
#include "parallel/agree.hpp"
#include "parallel/common_clock.hpp"
#include "parallel/file_system.hpp"
#include "storage/array_file.hpp"

namespace effio {

/// What files take on storage, as the file system says right after the close.
struct Footprint {
    std::int64_t files = 0;
    std::int64_t bytes = 0;      ///< lengths
    std::int64_t allocated = 0;  ///< less, where they have holes

    void add(const std::string& path, std::int64_t length);
    Footprint over(const Comm& comm) const;  ///< of all ranks; collective
    double sparse_share() const;             ///< of the lengths that nothing is reserved for
};
const Fields<Footprint>& footprint_fields();

/// The lengths of files. MPI libraries return success for data that never arrived (full disks):
/// each file, or all of them `together`, must be as long as its data at least.
Result<Footprint> sized(Session& session, std::span<const std::string> paths, std::int64_t least,
                        bool together);

/// Whose visit it is; all outlive it.
struct Visitors {
    Session& session;
    const Comm& comm;
    const Topology& topology;
    CommonClock& common;
    const std::optional<FileSystem>& file_system;
};

/// What a rank does; what is empty is left out.
struct VisitSteps {
    using Work = std::function<Status()>;
    struct Part {
        std::string name;
        Work work;
        /// The ranks continue after it without agreeing: none waits for another.
        bool alone = false;
    };
    std::vector<Part> opening = {};
    /// Called between opening and moving, in no time of the visit: what has to be checked before
    /// anything is written. Collective if the last part of the opening is.
    Work confirm = {};
    Part moving;
    /// The ranks meet in the moving itself: one that failed before has to come, too.
    bool moving_meets = false;
    Part sync = {"sync", {}};
    /// The rate counts the flush: else what the caches held before it is the evidence.
    bool sync_counts = false;
    /// While the file is open and all went well: the time for what it says of itself.
    std::function<void()> ask = {};
    Part close = {"close", {}};
    /// It is not a collective call, so it is done whatever failed.
    bool closes_anyway = false;
    /// The communicator of the file, if all ranks wait for each other after each part.
    const Comm* waits_for = nullptr;
    /// Bytes of this rank, by backend. What was read by all is what the evidence judges; where
    /// nothing was, what was written.
    struct Bytes {
        std::int64_t read = 0;
        std::int64_t written = 0;
    };
    /// After the end, which was `fine`.
    std::function<Bytes(bool fine)> bytes = {};
    /// What was in effect against the page cache; reported to the evidence after the end.
    const Cold* cold = nullptr;
    /// Evidence is gathered.
    bool watched = true;
};

/// What this rank saw of it; the same on all ranks where it says so.
struct Visited {
    bool fine = true;        ///< on all ranks, if the last part was not done alone
    Agreed agreed;           ///< on all ranks, at the latest agreement
    std::int64_t bytes = 0;  ///< that the evidence judges, of all ranks
    std::vector<PartSpan> parts;
    /// "total", the parts by name, "late", "agree".
    std::vector<NamedNumber> seconds;
    double counted = 0;  ///< seconds over which the rate counts the bytes
    double start = 0;    ///< this rank's clock at the ranks' common start
    double ended = 0;    ///< this rank's clock after the last part, before caches are looked at
    double late = 0;     ///< seconds by which this rank started after the first one
    std::optional<CacheEvidence> cache;

    const PartSpan& part(std::string_view name) const { return part_of(parts, name); }
};

/// Collective over the visitors. A part that fails on one rank is the last one, for all ranks that
/// learn of it: the file stays unclosed. `mine` is what the rank knows, and becomes what it knows
/// at the end.
Visited carry_out(const Visitors& who, const VisitSteps& steps, Outcome& mine);

/// The outcome of a visit or of one of its passes; the same on all ranks unless said otherwise.
struct VisitResult {
    std::string path;  ///< of the root's file
    bool writing = true;
    bool of_arrays = false;       ///< reports data and holes in addition to the bytes
    std::int64_t bytes = 0;       ///< of all ranks; of arrays with headers and record marks
    std::int64_t data_bytes = 0;  ///< without those
    std::int64_t calls = 0;
    PartTimes seconds;  ///< over ranks; "total" first, "agree" last
    /// Seconds of the slowest rank, over which the rate counts the bytes.
    double counted_seconds = 0;
    std::optional<double> ended;  ///< by this rank's clock
    std::optional<Histogram> call_times;
    std::optional<Histogram> response_times;  ///< with a rate limit
    Hints asked;
    GrantedHints granted;  ///< as this rank's library says
    Json library = Json::object();
    std::optional<CacheEvidence> cache;
    std::optional<Footprint> on_disk;  ///< of files that were written and closed
    std::int64_t verified_bytes = 0;
    std::int64_t error_count = 0;
    std::vector<Error> errors;
    bool valid = true;
    bool interrupted = false;

    /// If it is not valid.
    std::string why_invalid() const;
    /// Seconds of the slowest rank; 0 if the part does not exist.
    double longest(std::string_view part) const { return effio::longest(seconds, part); }
    double rate() const { return rate_of(bytes, counted_seconds); }
    /// Bytes over all seconds.
    double synced_rate() const { return rate_of(bytes, longest("total")); }
    /// Bytes by which the files are longer than `bytes`: what alignment leaves empty.
    std::int64_t hole_bytes() const;
    /// Written and flushed, in a separate part that took time.
    bool flushed() const { return writing && longest("sync") > 0; }
    /// For the console: invalid, wrong or verified, from memory, holes, and the collective calls.
    std::string remark() const;

    /// What the library says of its calls, summed over the ranks; collective.
    void add_totals(const Comm& comm, const ArrayTotals& mine);
    /// Seconds, bytes, cache and call times of a visit; collective.
    void add(const Comm& comm, const Visited& visited, const Histogram* times);
    /// What all ranks know at the end of it, or of a check after that. Data that are wrong do not
    /// make it invalid.
    void add(const Agreed& agreed);
    /// Everything but benchmark, pattern, access, place and repetition.
    Measurement to_measurement() const;
};
/// Its part of a measurement's detail.
const Fields<VisitResult>& visit_fields();

/// The failure of a reader that found wrong values.
void note_wrong(Outcome& outcome, const Session& session, const std::string& path,
                const std::string& first, std::int64_t elements);

}  // namespace effio
