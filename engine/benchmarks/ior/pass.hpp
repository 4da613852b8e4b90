// SPDX-License-Identifier: BSD-3-Clause
// One pass of a rank's workers over their files: the loop of calls, and nothing around it.
//
// The pass begins after the files are open and ends before sync and close. Its time holds the
// calls, the stamps of eight bytes per 4 KiB of data written, the readings of the clock that the
// pace needs, and what was requested inside: comparing, pausing, syncing after each call.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "benchmarks/ior/definition.hpp"
#include "core/buffer.hpp"
#include "core/series.hpp"
#include "core/stats.hpp"
#include "frame/call_log.hpp"
#include "parallel/agree.hpp"
#include "parallel/pace.hpp"
#include "storage/byte_file.hpp"

namespace effio::ior {

/// The way of the calls, the same for all workers.
struct Calls {
    Access access = Access::write;
    bool collective = false;
    bool in_step = false;  ///< all ranks make equally many calls, collective or not
    Placement placement = Placement::offset;
    Geometry geometry;
    bool compare = false;    ///< reading: with what should be there
    bool sync_each = false;  ///< writing
    double think_seconds = 0;
    double call_seconds = 0;  ///< a call starts only after this time for each call before it
    Mix mix;                  ///< of `mixed`
    bool time_calls = false;
    bool keep_calls = false;       ///< begin and length of every call
    std::int64_t queue_depth = 1;  ///< transfers of a worker under way at the same time
    MemoryPieces memory;           ///< of the data of a call

    /// The calls alone, each at the place in the file that it moves and without the other ranks.
    bool is_plain() const {
        return access != Access::mixed && !collective && !in_step &&
               placement == Placement::offset && !compare && !sync_each && think_seconds <= 0 &&
               call_seconds <= 0 && !keep_calls && queue_depth == 1 && !memory.given();
    }
    /// Bytes that one call moves.
    std::int64_t bytes() const {
        return placement == Placement::strided ? geometry.segments * geometry.block
                                               : geometry.transfer;
    }
};

/// One of the transfers that a worker has under way.
struct Slot {
    std::optional<Data> data;  ///< as written or expected
    Buffer memory;             ///< for what is read
    std::int64_t offset = 0;
    bool reads = false;
    double posted = 0;  ///< clock reading; where calls are timed
    double due = 0;     ///< clock reading at which the rate limit lets it start
};

/// What one worker works on.
struct WorkerShare {
    std::unique_ptr<ByteFile> file;  ///< none where it could not be opened; then nothing is done
    std::optional<Data> data;        ///< as written or expected
    std::optional<Data::Source> source;  ///< of `data`
    std::optional<Walk> walk;
    std::int64_t worker = 0;     ///< of the geometry, whose file or part this is
    std::int64_t transfers = 0;  ///< to be done; after them the worker begins anew if it must
    Buffer memory;               ///< for what is read
    std::optional<SpacedMemory> spaced;  ///< what calls move, where it is not in one piece
    Buffer strided;           ///< the data of a strided call, all blocks one after the other
    std::vector<Slot> slots;  ///< where more than one is under way
    std::unique_ptr<TransferQueue> queue;  ///< of `file`, for as many as there are slots

    /// Fills the memory before any time is measured; `data` and `worker` are there.
    void take_memory(const Calls& calls);
    /// Where the transfers of the slots will be from and to.
    std::vector<std::span<std::byte>> memory_of_slots(Access access);
};

/// When a pass ends.
struct Until {
    double seconds = 0;  ///< 0 = no deadline
    double min_seconds = 0;
    bool wear_out = false;
    double wear_out_seconds = 0;  ///< from the start; 0 = no limit
    bool is_cut = false;          ///< the number of transfers was cut by the user
    std::optional<SteadyRule::Settings> steady;
    double steady_slice = 1;
};

/// What one worker did. Times are seconds since the start of the pass on its rank.
struct WorkerResult {
    std::int64_t transfers = 0;
    double end = 0;
    StopPoint wall;  ///< when it met its stonewall or had done all
    StopReason reason = StopReason::none;
    std::int64_t highest = 0;   ///< end of the last byte touched
    std::int64_t verified = 0;  ///< bytes
    std::int64_t foreign = 0;   ///< of them, in calls of which no word is as it should be
    std::int64_t zeros = 0;     ///< of them, in calls of zeros that are too short for a hole
    double compare_seconds = 0;
    double copy_seconds = 0;  ///< of data to write to their pieces in memory
    double sync_seconds = 0;
    double think_seconds = 0;
    double held_seconds = 0;  ///< back, so that calls keep their pace
    Histogram calls;
    Histogram reads;              ///< of a mixed pass; `calls` holds its writes
    Histogram responses;          ///< with a rate limit: since each call was due
    std::int64_t read_calls = 0;  ///< of a mixed pass, without an error
    TimeSeries series = TimeSeries::finely();
    std::vector<CallTime> kept;  ///< every call, if requested
    Outcome outcome;
};

struct PassDone {
    std::vector<WorkerResult> results;
    std::optional<Wall> wall;  ///< where the workers wore out; else see standings()
    std::optional<SteadyRule::Verdict> steady;  ///< rates in B/s of all ranks
    double vote_seconds = 0;                    ///< of this rank, in all agreements inside the pass

    /// Where the workers of this rank stood at their stonewall.
    std::vector<StopPoint> standings() const;
    std::int64_t sum(std::int64_t WorkerResult::* what) const;
    double longest(double WorkerResult::* what) const;
};

class Pass {
  public:
    /// `comm` holds the ranks that take part.
    Pass(Session& session, const Comm& comm, const Calls& calls, const Until& until)
        : session_(session), comm_(comm), calls_(calls), until_(until) {}

    /// Collective.
    PassDone run(std::vector<WorkerShare>& shares);

  private:
    class Worker;
    void run_together(Worker& worker, WorkerResult& done, PassDone& all);
    void run_apart(std::vector<std::unique_ptr<Worker>>& workers, PassDone& all);

    Session& session_;
    const Comm& comm_;
    const Calls& calls_;
    const Until& until_;
};

}  // namespace effio::ior
