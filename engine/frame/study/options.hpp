// SPDX-License-Identifier: BSD-3-Clause
// The options that all studies share. A study's parameters derive from them.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frame/data_options.hpp"
#include "frame/storage_options.hpp"
#include "frame/study/cell.hpp"
#include "frame/until_ci.hpp"

namespace effio::study {

/// Each rank makes its calls for itself, or all ranks of a file make them together.
enum class Calls { independent, collective };
/// The axis of a study that compares them.
inline const Words<Calls>& calls_words() {
    static const Words<Calls> words{{"independent", Calls::independent},
                                    {"collective", Calls::collective}};
    return words;
}

struct Options {
    StorageOptions storage;
    std::int64_t repetitions = 1;
    UntilCiOptions until_ci;
    bool verify = true;
    DataOptions data;
    Bytes verify_memory{64 * MiB};
    Readers reader = Readers::same;
    Sync fsync = Sync::inside;
    std::optional<std::string> save_calls;
    std::optional<std::string> save_ranks;
    std::vector<std::string> phases{"write", "read"};
    std::optional<std::string> peak_text;

    explicit Options(std::string default_backend, Serves what = Serves::bytes)
        : storage(std::move(default_backend), what) {}

    /// Those of the frame and of storage; to be called after the study's own.
    void declare_common(OptionTable& table);
    // Parts of those, for studies that have the rest in another way.
    void declare_repetitions(OptionTable& table, std::string_view help);
    void declare_checks(OptionTable& table);
    /// "write" and "read", for studies that can read what an earlier run kept.
    void declare_phases(OptionTable& table);
    /// "RATE" or "measured", for studies that compare with a peak.
    void declare_peak(OptionTable& table);
    Status check_common();

    /// The streams that measure a peak.
    struct PeakStreams {
        int ranks = 1;                                    ///< of the run
        std::function<std::int64_t(std::int64_t)> bytes;  ///< of a file with this number of streams
        std::function<std::vector<Axis>(std::int64_t streams, std::int64_t call)> axes;
        std::string file;  ///< start of the names
    };
    /// Adds cells of 1, 2, 4, ... and all ranks, each with its own file and calls of peak_block():
    /// through the cache (empty before, flush timed), past the cache, and past the cache with
    /// several calls in flight.
    void add_peak(Definition& study, const PeakStreams& streams) const;
    static constexpr std::array peak_depths{8, 32};
    static std::int64_t peak_block(std::int64_t bytes);

    /// Bytes of a rank's timed reads that stay in memory until they are compared.
    std::int64_t kept() const { return verify ? verify_memory.count : 0; }
    /// How data are verified, for the run line.
    std::string verified() const;

    bool measures_peak() const { return peak_text == "measured"; }
    /// The rate that was given; filled by check_common().
    std::optional<BytesPerSecond> peak;
};

}  // namespace effio::study
