// SPDX-License-Identifier: BSD-3-Clause
// What a cell moves: pieces of files, many small files, a stream of each rank, or arrays. All four
// answer the same questions, so who asks a cell does not ask which one it has.
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

/// Pieces of a file, equally long; the file is of the rank, of a group of ranks, or of all.
struct Pieces {
    std::function<Addresses(int rank)> of_rank;
    /// Of all ranks, where some move more pieces than rank 0.
    std::optional<std::int64_t> in_all = {};
    /// Ranks may move the same bytes: what one of them modifies, another may find changed already.
    bool overlap = false;
    /// Bytes in memory between a piece and the next; words only.
    std::int64_t memory_spacing = 0;
    Through through = Through::offsets;

    Addresses addresses(int rank) const { return of_rank(rank); }
    std::int64_t bytes_of(int rank) const { return addresses(rank).bytes(); }
    double bytes_in_all(int ranks) const;
    double calls_in_all(int ranks) const;
};

/// Many small files in place of few large ones: each visit opens a file, moves it by calls one
/// after the other, flushes it if the cell says so inside, and closes it.
struct Items {
    int set = 0;  ///< distinguishes the contents of one set of files from those of another
    std::int64_t files = 0;
    std::int64_t file_bytes = 0;
    std::int64_t request = 0;  ///< bytes of a call; a file's last one may be shorter
    std::int64_t visits_in_all = 0;
    std::function<std::int64_t(int rank)> visits = {};
    /// The number of the file of a rank's visit.
    std::function<std::int64_t(int rank, std::int64_t visit)> file = {};

    /// The files as pieces of the content: each begins with a page of it.
    Addresses addresses(int rank) const;
    std::int64_t bytes_of(int rank) const { return visits(rank) * file_bytes; }
    double bytes_in_all(int ranks) const;
    double calls_in_all(int ranks) const;
};

/// One stream a rank, of its length, moved by calls one after the other: in a part of the
/// file, or in a separate file. Its contents are stamped, at any place.
struct Streams {
    std::int64_t request = 1;  ///< bytes of a call; the last one may be shorter
    std::int64_t first = 0;    ///< bytes of the first call, at most `request`; 0: as the others
    std::int64_t largest = 0;  ///< bytes of the longest stream: where they share a file, rank r's
                               ///< begins at r times as much
    bool apart = false;        ///< each in a separate file
    std::int64_t sum_of_bytes = 0;
    std::int64_t sum_of_calls = 0;
    std::function<std::int64_t(int rank)> bytes = {};

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
    /// Formats with a separate structure are given the parts of a shared file.
    std::optional<Blocks> blocks(int ranks) const;

    /// The longest, as pieces of the content.
    Addresses addresses(int rank) const;
    std::int64_t bytes_of(int rank) const { return bytes(rank); }
    double bytes_in_all(int ranks) const;
    double calls_in_all(int ranks) const;

  private:
    std::int64_t lead() const { return first > 0 ? first : request; }
};

/// A file of arrays, or one of each rank, as the backend of the cell keeps them: a rank puts or
/// gets its share of each variable by one call.
struct Arrays {
    ArraySchema schema;
    /// In a file that holds nothing but the variables, which are equally large, one after the
    /// other; a piece is the share of one.
    std::function<Addresses(int rank)> of_rank;
    int set = 0;  ///< distinguishes the contents of one file from those of another

    Addresses addresses(int rank) const { return of_rank(rank); }
    std::int64_t bytes_of(int rank) const { return addresses(rank).bytes(); }
    double bytes_in_all(int ranks) const;
    double calls_in_all(int ranks) const;
};

using CellData = std::variant<Pieces, Items, Streams, Arrays>;

}  // namespace effio::study
