// SPDX-License-Identifier: BSD-3-Clause
// The data that a cell moves: pieces of files, many small files, one stream per rank, or arrays.
// All four kinds have the same functions, so a caller need not know which kind a cell has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "core/addresses.hpp"
#include "storage/array_schema.hpp"

namespace effio::study {

/// How the calls find their place.
enum class Through {
    offsets,  ///< one call a piece, at its offset
    view,     ///< one call for all pieces, through a view of the file
};

/// Pieces of equal length in a file that belongs to one rank, to a group of ranks, or to all ranks.
struct Pieces {
    std::function<Addresses(int rank)> of_rank;
    /// Number of pieces of all ranks, needed if some ranks move more pieces than rank 0.
    std::optional<std::int64_t> in_all = {};
    /// Ranks may move the same bytes, so a rank may find that another one has modified them
    /// already.
    bool overlap = false;
    /// Bytes in memory between a piece and the next; words only.
    std::int64_t memory_spacing = 0;
    Through through = Through::offsets;

    Addresses addresses(int rank) const { return of_rank(rank); }
    std::int64_t bytes_of(int rank) const { return addresses(rank).bytes(); }
    double bytes_in_all(int ranks) const;
    double calls_in_all(int ranks) const;
};

/// Many small files: each visit opens a file, moves all of it by consecutive calls, flushes it if
/// the cell has Sync::inside, and closes it.
struct Items {
    int set = 0;  ///< distinguishes the contents of one set of files from those of another
    std::int64_t files = 0;
    std::int64_t file_bytes = 0;
    std::int64_t request = 0;  ///< bytes of a call; a file's last one may be shorter
    std::int64_t visits_in_all = 0;
    std::function<std::int64_t(int rank)> visits = {};
    /// The number of the file that a rank opens in a visit.
    std::function<std::int64_t(int rank, std::int64_t visit)> file = {};

    /// The files as pieces of the generated content; each file starts at a page.
    Addresses addresses(int rank) const;
    std::int64_t bytes_of(int rank) const { return visits(rank) * file_bytes; }
    double bytes_in_all(int ranks) const;
    double calls_in_all(int ranks) const;
};

/// One stream per rank, moved by consecutive calls, in a part of a shared file or in a separate
/// file. Streams may differ in length. Their contents are stamped and may start anywhere.
struct Streams {
    std::int64_t request = 1;  ///< bytes of a call; the last one may be shorter
    std::int64_t first = 0;    ///< bytes of the first call, at most `request`; 0: `request`
    std::int64_t largest = 0;  ///< bytes of the longest stream; in a shared file the stream of
                               ///< rank r starts at r times this
    bool apart = false;        ///< each in a separate file
    std::int64_t sum_of_bytes = 0;
    std::int64_t sum_of_calls = 0;
    std::function<std::int64_t(int rank)> bytes = {};

    /// Number of calls for a stream of this length.
    std::int64_t calls(std::int64_t length) const;
    /// What call `number` moves; offsets count from the start of the stream.
    Run call(std::int64_t number, std::int64_t length) const {
        const std::int64_t from = number == 0 ? 0 : lead() + (number - 1) * request;
        return {from, std::min(length, lead() + number * request) - from};
    }
    /// Fills `largest` and the sums over the ranks.
    void count(int ranks);
    /// The same for streams of equal length, without a loop over the ranks.
    void count_equal(int ranks);
    std::int64_t begin(int rank) const { return apart ? 0 : rank * largest; }
    /// The parts of a shared file, for formats that keep the ranks' data in separate blocks.
    std::optional<Blocks> blocks(int ranks) const;

    /// A stream of the largest length, as pieces of the generated content.
    Addresses addresses(int rank) const;
    std::int64_t bytes_of(int rank) const { return bytes(rank); }
    double bytes_in_all(int ranks) const;
    double calls_in_all(int ranks) const;

  private:
    std::int64_t lead() const { return first > 0 ? first : request; }
};

/// Arrays in one file or in one file per rank, as the cell's backend stores them. A rank puts or
/// gets its share of each variable by one call.
struct Arrays {
    ArraySchema schema;
    /// Addresses as if the file held only the variables, one after the other and equally large; a
    /// piece is a rank's share of one variable.
    std::function<Addresses(int rank)> of_rank;
    int set = 0;  ///< distinguishes the contents of one file from those of another

    Addresses addresses(int rank) const { return of_rank(rank); }
    std::int64_t bytes_of(int rank) const { return addresses(rank).bytes(); }
    double bytes_in_all(int ranks) const;
    double calls_in_all(int ranks) const;
};

using CellData = std::variant<Pieces, Items, Streams, Arrays>;

}  // namespace effio::study
