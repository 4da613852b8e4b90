// SPDX-License-Identifier: BSD-3-Clause
// One array file written or read by the ranks of a communicator: timed by part, watched, checked,
// and summed up over the ranks. What all benchmarks of array libraries share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/cold.hpp"
#include "core/record.hpp"
#include "parallel/agree.hpp"
#include "parallel/file_system.hpp"
#include "storage/array_file.hpp"

namespace effio {

/// What came of it; the same on all ranks unless said otherwise.
struct ArrayRun {
    std::string path;
    bool write = true;
    std::int64_t data_bytes = 0;  ///< of all ranks
    std::int64_t bytes = 0;       ///< with headers and record marks
    /// Writing: by how much the files are longer than `bytes`; what alignment leaves empty.
    std::int64_t hole_bytes = 0;
    std::int64_t calls = 0;
    /// Over ranks; "total" first. Writing: "by_definition" is the total without the sync.
    PartTimes seconds;
    std::optional<Histogram> call_times;
    Hints asked;
    GrantedHints granted;  ///< as this rank's library tells
    CacheEvidence cache;
    std::int64_t verified_bytes = 0;
    std::int64_t error_count = 0;
    std::vector<Error> errors;
    bool valid = true;
    Json library = Json::object();  ///< what it tells of its calls and of the file

    /// The slowest rank's seconds of a part; 0 if there is no such part.
    double longest(std::string_view part) const { return effio::longest(seconds, part); }
    /// Seconds that count: from the call that opens to the end of the close, the sync apart.
    double counted_seconds() const { return longest(write ? "by_definition" : "total"); }
    double rate() const;         ///< bytes over the seconds that count
    double synced_rate() const;  ///< bytes over all seconds
    /// "24 of 24 calls collective", where the library tells what it made of them; else empty.
    std::string collective_words() const;
    /// For people: invalid, wrong or verified, from cache, and the collective calls.
    std::string remark() const;

    /// Everything but benchmark, pattern, place and repetition.
    Measurement to_measurement() const;
};

struct ArrayTransfer {
    ArrayLibrary& library;
    ArrayRequest request;
    bool write = true;
    bool sync = true;  ///< writing: flush to storage as a part of its own before the close
    CacheOptions cache = {};
    bool time_calls = true;
    /// Of the files that hold what this rank moves; writing: of one.
    std::vector<std::string> own_paths = {};
    std::string opening = "open";
    std::string moving = "data";
    /// Belongs to the first part, after the file is created or opened; may be empty.
    std::function<Status(ArrayFile&)> opened = {};
    std::function<Status(ArrayFile&)> move = {};
    /// After the close, untimed; may be empty. Returns the bytes checked.
    std::function<std::int64_t(Outcome&)> verify = {};
};

/// Collective over `comm`. Data that are wrong are among the run's errors and do not make it
/// invalid; any other failure does, and leaves the file unclosed.
std::pair<ArrayRun, Agreed> carry_out(Job& job, const Comm& comm,
                                      const std::optional<FileSystem>& file_system,
                                      const ArrayTransfer& transfer);

/// The failure of a reader that found wrong values.
void note_wrong(Outcome& outcome, const Session& session, const std::string& path,
                const std::string& first, std::int64_t elements);

}  // namespace effio
