// SPDX-License-Identifier: BSD-3-Clause
// What the author of a study writes: cells, and nothing of how they are carried out.
//
// A cell is one visit to its files: open, one or more passes of calls, sync, close. Everything in
// it is data, a function of the options and the number of ranks; the frame derives the rest from it
// (plan, files and cap, communicators, parts of the time, verification, records, tables).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/fields.hpp"
#include "core/json.hpp"
#include "core/units.hpp"
#include "frame/study/data.hpp"
#include "storage/backends.hpp"
#include "storage/hints.hpp"

namespace effio::study {

enum class Access {
    write,
    read,
    /// Each call reads its bytes, then writes them anew at the same place. Words only.
    modify,
};

/// One time all calls of a cell; `name` is what results call it: "write", "re-read".
struct Pass {
    Access access = Access::write;
    std::string name;

    bool writes() const { return access != Access::read; }
    /// How often a pass moves its bytes: to storage, from it, or both.
    int directions() const { return access == Access::modify ? 2 : 1; }
};

/// What comes after a pass, on the same files: nothing before they are removed, one that reads all
/// of it, or one that writes it again.
enum class NextPass { none, reads, writes };

inline Pass write_pass(std::string name = "write") {
    return {Access::write, std::move(name)};
}
inline Pass read_pass(std::string name = "read") {
    return {Access::read, std::move(name)};
}
inline Pass modify_pass(std::string name = "read-modify-write") {
    return {Access::modify, std::move(name)};
}

/// One coordinate of a cell: a member of `where` in results, a column of tables, an axis of
/// figures.
struct Axis {
    std::string name;   ///< "block_bytes"
    std::string title;  ///< "block"
    std::string unit;   ///< "B", "1", or "" for a word
    Json value;
    std::string text;
};
Axis size_axis(const std::string& title, std::int64_t bytes);
Axis count_axis(const std::string& title, std::int64_t count);
Axis word_axis(const std::string& title, const std::string& word);

/// Which ranks of the run take part in a cell of fewer.
enum class Placing {
    in_order,  ///< the first ones
    packed,    ///< those of the first node, then those of the next one, and so on
    spread,    ///< the first one of each node, then the second one of each, and so on
};

/// What a file contains, always a function of (pass that wrote it, file, offset). Bytes that
/// several ranks write are therefore equal.
enum class Content {
    /// Every eight bytes say their place. A rank holds all its data in memory; what it reads is
    /// checked there in whole.
    words,
    /// Repeats every MiB but for eight bytes in each 4 KiB. A rank holds one call's data; what it
    /// reads is checked by reading it again, untimed. Pieces are multiples of 4 KiB.
    stamped,
    /// As words, and each is a whole number below 2^52 if it is read as a double.
    numbers,
};

enum class Sync {
    none,
    separate,  ///< after writing, as a part of the time that the rate does not count
    inside,    ///< the rate counts it
};

/// The seconds over which a rate counts the bytes.
enum class Counts {
    visit,  ///< from the open to the end of the close
    calls,  ///< of the slowest rank in its calls
};

/// Which ranks of the run a cell uses if it needs fewer, and their order.
struct RankLayout {
    /// Not empty: the ranks form a Cartesian communicator of these extents. MPI may reorder them to
    /// fit the machine.
    std::vector<int> grid = {};
    Placing placing = Placing::in_order;
    friend bool operator==(const RankLayout&, const RankLayout&) = default;
};

/// The cell opens its files with O_DIRECT, whatever backend the run uses.
struct PastCache {
    /// Calls of a rank in flight. More than 1 needs io_uring.
    int in_flight = 1;
    /// If O_DIRECT or io_uring is missing, the cell uses the run's backend; otherwise it is
    /// skipped.
    bool or_own_backend = false;
};

/// How a visit differs from the usual open, transfer, sync and close.
struct Manner {
    double settle = 0;  ///< seconds to wait before the visit
    /// New files are created and closed, then opened; each is a separate part.
    bool creates_apart = false;
    /// Each rank opens the file independently.
    bool opens_alone = false;
    /// After each part every rank waits for the ranks of its file, then for all ranks. Each wait is
    /// a separate part.
    bool waits = false;
    /// Not 0: only this many ranks make calls at the same time, in rank order. Waiting for the
    /// other ranks is a separate part.
    int at_a_time = 0;
    /// Rank r reads what rank r + shift (modulo the number of ranks) wrote. Empty: the options
    /// decide.
    std::optional<int> shift = {};
    /// The cell removes its files at the end, in a part that the rate does not count.
    bool unlinks = false;
};

struct Cell {
    std::string pattern;
    std::vector<Axis> axes;
    std::vector<Pass> passes;

    int ranks = 1;  ///< this many of the run take part: 0…ranks-1, or as `layout` says
    RankLayout layout = {};

    /// Start of the files' names. Cells of one name are next to each other in the list; the first
    /// of them creates the files if it writes, after the last one they are removed.
    std::string file;
    /// Cells of one pool are next to each other, too: their files are removed after the last of
    /// them. Empty: those of the same files.
    std::string pool = {};
    /// A divisor of the ranks, which share them out in groups of neighbors; any number of items.
    int files = 1;
    std::int64_t file_bytes = 0;  ///< length of each file when it is written
    /// Files on disk that the backend makes of each file: the parts of a container.
    int parts_of_file = 1;

    CellData data = {};
    Content content = Content::words;

    /// The backend of its files, where that is not the run's own.
    std::optional<BackendChoice> backend = {};
    std::optional<PastCache> past_cache = {};
    bool collective = false;
    Hints hints = {};
    Manner manner = {};

    Sync sync = Sync::separate;
    Counts counts = Counts::visit;
    /// Its rates are candidates for the peak, by access, that others are compared with. The highest
    /// over the numbers of streams and calls in flight counts. Pages are always dropped before it,
    /// regardless of the options.
    bool is_peak = false;

    bool writes() const;
    /// Number of the file that a rank uses; not for items.
    int file_of(int rank) const { return rank / (ranks / files); }
    int files_on_disk() const { return files * parts_of_file; }
    /// Whose files are removed together.
    const std::string& keeper() const { return pool.empty() ? file : pool; }
    /// Number of files that one pass opens if the data are Items; otherwise 0.
    std::int64_t visits_in_all() const;
    /// Whether ranks may move the same bytes (Pieces::overlap).
    bool overlap() const;
    /// Bytes in memory between two pieces (Pieces::memory_spacing).
    std::int64_t memory_spacing() const;
    /// Whether an array library reads and writes the files.
    bool holds_arrays() const { return std::holds_alternative<Arrays>(data); }
    int in_flight() const { return past_cache ? past_cache->in_flight : 1; }

    /// The bytes that a rank moves in each pass.
    Addresses addresses(int rank) const {
        return std::visit([&](const auto& of) { return of.addresses(rank); }, data);
    }
    /// Bytes that a reading pass moves of what this rank wrote; 0 if the cell never reads.
    std::int64_t bytes_read(int rank) const;
    // Totals over all ranks for a pass that either reads or writes.
    double bytes_in_all() const {
        return std::visit([&](const auto& of) { return of.bytes_in_all(ranks); }, data);
    }
    double calls_in_all() const {
        return std::visit([&](const auto& of) { return of.calls_in_all(ranks); }, data);
    }
};

/// Identifies one pass of all cells with this pattern.
struct CellPass {
    std::string pattern;
    std::string access;
    friend bool operator==(const CellPass&, const CellPass&) = default;
};

/// So much of something in the seconds that several passes take together, for each place that the
/// axes have: images per second, say.
struct Throughput {
    std::string name;   ///< "images_per_second"
    std::string title;  ///< "images/s"
    Unit unit = Unit::number;
    double amount = 0;
    std::vector<CellPass> passes;
};

/// The result that answers a study's question; it is reported first.
enum class Headline {
    by_access,              ///< the highest rate of a write, and that of a read
    strongest_and_weakest,  ///< the patterns with the highest and the lowest rate of an access
    throughputs,            ///< items per second
    enough,                 ///< how many ranks are enough
};
std::string_view name(Headline headline);

/// 1, 2, 4, … and all of them.
std::vector<std::int64_t> doubled_up_to(int ranks);

/// A study in whole.
struct Definition {
    std::string name;  ///< of the benchmark
    std::vector<Cell> cells;
    std::string title;  ///< one line above the table
    /// Axes of all cells, where options decide which there are.
    std::vector<Axis> possible_axes = {};
    Facts facts = {};  ///< what it was set to, for the run line
    /// Bytes per second that nothing can exceed, if given; else of cells that are the peak.
    std::optional<BytesPerSecond> peak = {};
    /// Name of the axis that is a number of ranks: speed-up and efficiency over it are reported,
    /// and how many are enough.
    std::string scales_over = {};
    std::vector<Throughput> throughputs = {};
    Headline headline = Headline::by_access;
    /// Not 0: the cells compare this many methods, whose files are next to each other, place by
    /// place. Cells whose order at each place is balanced over the repetitions
    /// (core/balanced_order); else the order of all cells rotates.
    std::size_t compared = 0;
    /// Carried out once before anything counts, for what is done at a first use; only failures are
    /// reported.
    std::vector<Cell> warm_up = {};
    /// Its own observer reports the means; the frame reports the passes only.
    bool reports_means = false;
    Facts run_line = {};  ///< more members of the run line

    /// A cell for each of the phases ("write", "read").
    void add(Cell cell, const std::vector<std::string>& phases);
};

}  // namespace effio::study
