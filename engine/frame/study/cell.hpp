// SPDX-License-Identifier: BSD-3-Clause
// What the author of a study writes: cells, and nothing of how they are carried out.
//
// A cell is one visit to its files: open, one or more passes of calls, sync, close. Everything in
// it is data, a function of the options and the number of ranks; the frame derives the rest from it
// (plan, files and cap, communicators, parts of the time, verification, records, tables).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/addresses.hpp"
#include "core/fields.hpp"
#include "core/json.hpp"
#include "core/units.hpp"
#include "storage/array_schema.hpp"
#include "storage/backends.hpp"
#include "storage/hints.hpp"

namespace effio::study {

enum class Access {
    write,
    read,
    /// Of each call's bytes: read, then written anew at the same place. Words only.
    modify,
};

/// One time all calls of a cell; `name` is what results call it: "write", "re-read".
struct Pass {
    Access access = Access::write;
    std::string name;

    bool writes() const { return access != Access::read; }
    /// How often a pass moves its bytes.
    int ways() const { return access == Access::modify ? 2 : 1; }
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

/// How the calls find their place.
enum class Through {
    offsets,  ///< one call a piece, at its offset
    view,     ///< one call for all pieces, through a view of the file
};

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
    beside,  ///< after writing, as a part of the time that the rate does not count
    inside,  ///< the rate counts it
};

/// The seconds over which a rate counts the bytes.
enum class Counts {
    visit,  ///< from the open to the end of the close
    calls,  ///< of the slowest rank in its calls
};

/// Many small files in place of few large ones: each visit opens a file, moves it by calls one
/// after the other, flushes it if the cell says so inside, and closes it.
struct Items {
    int set = 0;  ///< distinguishes the contents of one set of files from those of another
    std::int64_t request = 0;  ///< bytes of a call; a file's last one may be shorter
    std::int64_t visits_in_all = 0;
    std::function<std::int64_t(int rank)> visits;
    /// The number of the file of a rank's visit.
    std::function<std::int64_t(int rank, std::int64_t visit)> file;

    /// Files of `bytes` as pieces of the content: each begins with a page of it.
    static Addresses contents(std::int64_t files, std::int64_t bytes);
};

/// One stream a rank, of its length, moved by calls one after the other: in a part of the
/// file, or in a separate file. Its contents are stamped, at any place.
struct Streams {
    std::int64_t request = 1;  ///< bytes of a call; the last one may be shorter
    std::int64_t first = 0;    ///< bytes of the first call, at most `request`; 0: as the others
    std::int64_t largest = 0;  ///< bytes of the longest stream: where they share a file, rank r's
                               ///< begins at r times as much
    bool apart = false;        ///< each in a separate file
    std::int64_t bytes_in_all = 0;
    std::int64_t calls_in_all = 0;
    std::function<std::int64_t(int rank)> bytes;

    /// Of a stream that is so long.
    std::int64_t calls(std::int64_t length) const;
    /// What call `number` of it moves; offsets count from the stream's begin.
    Run call(std::int64_t number, std::int64_t length) const {
        const std::int64_t from = number == 0 ? 0 : lead() + (number - 1) * request;
        return {from, std::min(length, lead() + number * request) - from};
    }
    /// Fills the sums over the ranks.
    void count(int ranks);
    std::int64_t begin(int rank) const { return apart ? 0 : rank * largest; }
    /// The longest, as pieces of the content.
    Addresses contents(int rank) const;
    /// Formats with a separate structure are given the parts of a shared file.
    std::optional<Blocks> blocks(int ranks) const;

  private:
    std::int64_t lead() const { return first > 0 ? first : request; }
};

struct Cell {
    std::string pattern;
    std::vector<Axis> axes;
    int ranks = 1;  ///< this many of the run take part: 0…ranks-1, or as `placing` says
    /// Not empty: the ranks are those of a Cartesian communicator of these extents, which MPI may
    /// order anew to fit the machine.
    std::vector<int> grid = {};
    std::vector<Pass> passes;
    Placing placing = Placing::in_order;
    /// Start of the files' names. Cells of one name are next to each other in the list; the first
    /// of them creates the files if it writes, after the last one they are removed.
    std::string file;
    /// Cells of one pool are next to each other, too: their files are removed after the last of
    /// them. Empty: those of the same files.
    std::string pool = {};
    /// A divisor of the ranks, which share them out in groups of neighbours; any number of items.
    int files = 1;
    std::int64_t file_bytes = 0;  ///< length of each file when it is written
    /// Of the file system, that its backend makes of each file: the parts of a container.
    int parts_of_file = 1;
    /// What a rank of the cell moves, in each pass; of items, Items::contents.
    std::function<Addresses(int rank)> addresses;
    /// Of all ranks, where some move more pieces than rank 0.
    std::optional<std::int64_t> pieces_in_all = {};
    /// Ranks may move the same bytes: what one of them modifies, another may find changed already.
    bool overlaps = false;
    /// Bytes in memory between a piece and the next; words only.
    std::int64_t memory_spacing = 0;
    std::optional<Items> items = {};
    std::optional<Streams> streams = {};
    /// A file of arrays, or one of each rank, as the backend of the cell keeps them: a rank puts or
    /// gets its share of each variable by one call. Its addresses are those of a file that holds
    /// nothing but the variables, which are equally large, one after the other; a piece is the
    /// share of one.
    std::optional<ArraySchema> arrays = {};
    int contents = 0;  ///< of arrays: distinguishes those of one file from those of another
    /// The way to its files, where that is not the run's own.
    std::optional<BackendChoice> backend = {};
    /// New files are created and closed, then opened: separate parts.
    bool creates_apart = false;
    /// Each rank opens the file for itself.
    bool opens_alone = false;
    /// After each part all ranks wait for those of their file, then for all: separate parts.
    bool waits = false;
    /// Not 0: only this many ranks at a time make their calls, in the order of the ranks. Waiting
    /// for the others is a separate part.
    int at_a_time = 0;
    /// Rank r reads what rank r + shift wrote, round the ranks; else as the options say.
    std::optional<int> shift = {};
    /// Its files are removed after it, as a part that the rate does not count.
    bool unlinks = false;
    Through through = Through::offsets;
    bool collective = false;
    Content content = Content::words;
    Sync sync = Sync::beside;
    Counts counts = Counts::visit;
    Hints hints = {};
    /// Its rates are candidates for the peak, by access, that others are compared with. The highest
    /// over the numbers of streams and calls in flight counts. Pages are always dropped before it,
    /// regardless of the options.
    bool is_peak = false;
    /// Files are reached by O_DIRECT, whatever the run's own way is; left out where the file system
    /// has none.
    bool past_cache = false;
    /// Calls of a rank in flight. More than 1 needs `past_cache` and io_uring; without io_uring the
    /// cell is left out.
    int in_flight = 1;
    /// Where there is none, it goes the run's own way instead.
    bool or_own_way = false;
    double settle = 0;  ///< seconds of rest before it

    bool writes() const;
    bool only_reads() const;
    /// Of the file that a rank uses; not of items.
    int file_of(int rank) const { return rank / (ranks / files); }
    /// How long a rank's file is at least when it is written.
    std::int64_t least_bytes(int rank) const {
        return streams && streams->apart ? streams->bytes(rank) : file_bytes;
    }
    /// Of a rank in a pass that reads, if it reads what this rank wrote; 0 if the cell never reads.
    std::int64_t bytes_read(int rank) const;
    int files_on_disk() const { return files * parts_of_file; }
    /// Whose files are removed together.
    const std::string& keeper() const { return pool.empty() ? file : pool; }
    // Of all ranks in a pass that moves its bytes one way.
    double bytes_in_all() const;
    double calls_in_all() const;
};

/// So much of something in the seconds that several passes take together, for each place that the
/// axes have: images per second, say.
struct Throughput {
    std::string name;   ///< "images_per_second"
    std::string title;  ///< "images/s"
    std::string unit;   ///< "images/s", "B/s"
    double amount = 0;
    std::vector<std::pair<std::string, std::string>> passes;  ///< pattern and access
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
    /// Of all cells, where options decide which axes there are.
    std::vector<Axis> possible_axes = {};
    Facts facts = {};  ///< what it was set to, for the run line
    /// Bytes per second that nothing can exceed, if given; else of cells that are the peak.
    std::optional<BytesPerSecond> peak = {};
    /// Name of the axis that is a number of ranks: speed-up and efficiency over it are reported,
    /// and how many are enough.
    std::string scales_over = {};
    std::vector<Throughput> throughputs = {};
    Headline headline = Headline::by_access;
    /// Not 0: the cells compare this many ways, whose files are next to each other, place by place.
    /// At each place their order is balanced over the repetitions (core/balanced_order); else the
    /// order of all cells rotates.
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
