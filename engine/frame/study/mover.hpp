// SPDX-License-Identifier: BSD-3-Clause
// Carries out the parts of a visit for one rank: virtual by part, never by call.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/named.hpp"
#include "core/series.hpp"
#include "frame/call_log.hpp"
#include "frame/observers.hpp"
#include "frame/paced_calls.hpp"
#include "frame/readable.hpp"
#include "frame/study/payload.hpp"
#include "parallel/pace.hpp"
#include "storage/array_file.hpp"
#include "storage/byte_file.hpp"

namespace effio::study {

/// Where a rank is in a cell.
struct RankContext {
    Session& session;
    const Cell& cell;
    const Comm& comm;  ///< of the ranks that use the same file
    std::string path;
    /// Path of the file that holds this rank's data: some backends split `path` into one per rank.
    std::string own_path;
    bool apart = false;          ///< `path` is split into one file per rank
    const Addresses& addresses;  ///< of the rank whose data this one moves
    Hints hints;
    int owner = 0;  ///< that rank
    /// The path of an item.
    std::function<std::string(std::int64_t file)> path_of = {};
};

/// What a rank did in a pass.
struct Moved {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    bool interrupted = false;  ///< a signal stopped the calls
    std::int64_t files = 0;    ///< visited, of items
    /// For items, seconds in all: what of the pass went into opening, flushing and closing them.
    std::vector<NamedNumber> parts;
    Histogram times;
    /// Calls (of items: visits) that did not fail, by time since the start of the pass; empty where
    /// a library makes them.
    TimeSeries over_time = TimeSeries::finely();
    std::vector<CallTime> kept;  ///< every call, if requested
};

struct Watching {
    bool time_calls = false;
    bool keep_calls = false;
    /// For streams and for pieces at offsets: sees what each call read, and from which place; for
    /// calls that are not timed.
    std::function<void(std::span<const std::byte> data, std::int64_t place)> read = {};
};

/// A call of a reading pass, to check what it left in memory.
struct KeptCall {
    std::int64_t before = 0;  ///< bytes that the earlier calls of the pass moved
    std::int64_t bytes = 0;
    std::int64_t place = 0;       ///< offset in the generated content
    std::int64_t file_place = 0;  ///< offset of the file's first byte there
    const std::string& path;
};

/// What a mover needs to read the data of a pass again, untimed, and to compare them.
struct SecondReading {
    Payload& payload;
    std::uint64_t generation = 0;
    /// Collective: returns whether all ranks opened their files, so that reading can continue.
    std::function<bool(Status opened)> all_opened;
    std::function<void(const Mismatch& wrong, const std::string& path)> wrong;
    std::function<void(std::int64_t bytes)> read;
};

/// Moves the data of a cell; there is one for each kind of data. The defaults are right for Pieces.
class Mover : public Interface {
  public:
    Mover(Storage& storage, const RankContext& place) : storage_(storage), place_(place) {}

    /// Collective over the file's ranks, and so are sync and close. Sets the view.
    virtual Status open(bool create) = 0;
    /// Collective, after an open and before a transfer: see ByteFile::confirm.
    virtual Status confirm() { return {}; }
    /// One pass; the payload is prepared.
    virtual Status move(Access access, Payload& payload, const Watching& watching,
                        Moved& moved) = 0;
    virtual Status sync() = 0;
    virtual Status close() = 0;
    /// As far as the library says; while the file is open.
    virtual GrantedHints granted_hints() = 0;
    virtual Json describe() = 0;
    /// For files of arrays: their calls until now, and after the close what they hold in addition
    /// to the data.
    virtual const ArrayTotals* array_totals() const { return nullptr; }
    virtual Result<std::int64_t> overhead_bytes() { return 0; }
    /// The call that moves the data.
    virtual std::string call_name(Access access) const = 0;

    /// Whether opening, flushing and closing the files is part of each pass.
    virtual bool opens_in_pass() const { return false; }
    /// The files that this rank moves.
    virtual std::vector<std::string> files() const;
    /// Whether this rank reports the sizes of these files.
    virtual bool reports_files() const { return place_.comm.is_root(); }
    /// The minimum length of each file after it was written.
    virtual std::int64_t least_bytes() const { return place_.cell.file_bytes; }
    /// Before a read of existing files: checks that each is long enough, and counts its holes.
    virtual Status look_at_files(Readable& readable) const;

    /// Calls the function for each call of a pass, in order, until it returns false.
    virtual void each_call(const std::function<bool(const KeptCall&)>& function) const;
    /// Whether the open file can be read to check what a pass wrote.
    virtual bool reads_while_open() const { return false; }
    /// Opens the files, reads and compares all data, and closes the files. Collective over the
    /// ranks of the cell if the implementation calls `all_opened`.
    virtual Status read_again(const SecondReading& reading);
    /// The message for wrong data.
    virtual std::string explain(const Mismatch& wrong) const { return wrong.text(); }

  protected:
    Storage& storage_;
    const RankContext& place_;
};

/// Returns an error if the storage lacks what a cell with these calls needs.
Status check_mover(const Storage& storage, bool collective, Through through = Through::offsets);

/// At most as many calls as the limits say, which are those of the pace; the last failure is what
/// is reported.
template <class Pace, class Call>
Status paced_calls(Pace& pace, const Deadline::Limits& limits, Moved& moved, Call&& call) {
    Status failure;
    std::int64_t failed = 0;
    std::int64_t noted_calls = 0;
    double noted = limits.start;
    const auto note = [&] {
        const std::int64_t done = pace.done() - failed;
        const double now = pace.now();
        moved.over_time.add(noted - limits.start, now - limits.start,
                            static_cast<double>(done - noted_calls));
        noted = now;
        noted_calls = done;
    };
    const auto counted = [&](std::int64_t number) __attribute__((always_inline)) {
        Status status = call(number);
        if (status) [[likely]]
            return true;
        failure = std::move(status);
        ++failed;
        return false;
    };
    if (limits.max_count > 0) {
        effio::paced_calls(pace, counted, note);
        note();
    }
    moved.calls = pace.done() - failed;
    moved.interrupted = pace.reason() == StopReason::interrupted;
    return failure;
}

/// The call, and when it was made if every call is to be kept.
template <class Call>
Status logged(const Clock& clock, const Watching& watching, Moved& moved, Call&& call) {
    if (!watching.keep_calls) return call();
    const double begin = clock.now();
    Status status = call();
    moved.kept.push_back({begin, clock.now() - begin});
    return status;
}

/// `place` must outlive the mover. Collective over its ranks.
std::unique_ptr<Mover> make_byte_mover(Storage& storage, const RankContext& place);
/// The mover for cells of items.
std::unique_ptr<Mover> make_item_mover(Storage& storage, const RankContext& place);
/// The mover for cells of streams.
std::unique_ptr<Mover> make_stream_mover(Storage& storage, const RankContext& place);
/// The mover for Arrays: puts or gets one variable after the other.
std::unique_ptr<Mover> make_share_mover(ArrayLibrary& library, const RankContext& place);
/// The mover for Pieces that are boxes: the array is one variable, and a rank's box is a slab of
/// it.
std::unique_ptr<Mover> make_box_mover(ArrayLibrary& library, const RankContext& place);

}  // namespace effio::study
