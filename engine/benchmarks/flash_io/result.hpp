// SPDX-License-Identifier: BSD-3-Clause
// What a run of FLASH I/O finds out, and who is notified of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/flash_io/parameters.hpp"
#include "core/record.hpp"
#include "core/stats.hpp"
#include "frame/observers.hpp"
#include "frame/visit.hpp"
#include "storage/hints.hpp"

namespace effio::flash_io {

struct Setup {
    Parameters parameters;
    int ranks = 1;
    int nodes = 1;
    int writers = 1;  ///< of the files, now or in an earlier run
    bool nonblocking = false;
    std::string library;    ///< "PnetCDF 1.12.3", or the backend's name
    std::string base_name;  ///< directory and prefix
    std::int64_t total_blocks = 0;
    std::int64_t dump_bytes = 0;  ///< of the files of one dump, headers not counted
    std::int64_t cap_bytes = 0;
    std::string cap_reason;
    std::string result_path;
};

/// One file written or read.
struct FileRun : VisitResult {
    File file = File::checkpoint;
    std::int64_t repetition = 0;
    std::int64_t dump = 0;
};

/// What the definition's report shows, summed over the dumps of a repetition.
struct Repetition {
    struct Part {
        std::int64_t files = 0;
        std::int64_t bytes = 0;
        std::int64_t hole_bytes = 0;  ///< of the files, not counted in `bytes`
        double seconds = 0;
        double header = 0;
        double unknown = 0;
        double sync = 0;
        double close = 0;
        double total = 0;  ///< with the sync
    };
    std::int64_t number = 0;
    std::array<Part, 3> parts{};  ///< by File
    GrantedHints granted;         ///< of the first file
    std::int64_t read_bytes = 0;  ///< restart
    double read_seconds = 0;
    std::int64_t verified_bytes = 0;
    std::int64_t wrong_values = 0;
    double compute_seconds = 0;  ///< between the dumps, the longest of all ranks
    bool complete = false;
    bool last_in_time = false;  ///< --time-limit left out the repetitions after this one

    void add(const FileRun& run);
    template <class T>
    T sum(T Part::* what) const {
        return parts[0].*what + parts[1].*what + parts[2].*what;
    }
    std::int64_t bytes() const { return sum(&Part::bytes); }
    double seconds() const { return sum(&Part::seconds); }
    double total_seconds() const { return sum(&Part::total); }
    double rate() const { return rate_of(bytes(), seconds()); }
    double synced_rate() const { return rate_of(bytes(), total_seconds()); }
    double read_rate() const { return rate_of(read_bytes, read_seconds); }
    /// I/O with sync, over I/O and computing.
    double io_fraction() const {
        return rate_of(total_seconds(), total_seconds() + compute_seconds);
    }
};

// What the means are called where people read them.
inline constexpr const char* on_storage = "bandwidth until the data are on storage";
inline constexpr const char* by_definition = "bandwidth by the definition (no sync)";
inline constexpr const char* restarted = "restart";

/// The mean over complete repetitions, and what it is based on.
struct Summary {
    std::vector<double> rates;  ///< bytes per second, in their order
    std::vector<double> synced_rates;
    std::vector<double> read_rates;
    std::int64_t wrong_values = 0;  ///< of all repetitions: what is written wrong is found by reads
    std::int64_t incomplete = 0;    ///< repetitions, which no mean counts
    /// For statements of the means; empty if all is well.
    std::string fault_text() const;
    explicit Summary(const std::vector<Repetition>& repetitions);
};

/// Root only.
class Observer : public Interface {
  public:
    virtual void start(const Setup&) {}
    virtual void file(const FileRun&) {}
    virtual void end(const Setup&, const std::vector<Repetition>&) {}
};

}  // namespace effio::flash_io
