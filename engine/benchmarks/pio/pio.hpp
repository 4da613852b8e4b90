// SPDX-License-Identifier: BSD-3-Clause
// The MPI pio benchmark (PIObench) with HPIO's layouts (docs/definitions/pio.md) on the frame for
// studies.
#pragma once

#include <memory>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/pio/patterns.hpp"
#include "benchmarks/study/study.hpp"

namespace effio::pio {

/// What is done to a pattern's file, in this order, whatever the order they were asked in.
inline constexpr std::array<const char*, 5> temporal_names{"write", "re-write", "read", "re-read",
                                                           "read-modify-write"};

/// A pattern to be measured.
struct Module {
    Spatial spatial = Spatial::sequential;
    std::vector<std::string> temporal;
    Bytes size;                  ///< of a rank's share
    std::vector<Bytes> buffers;  ///< sizes of a call; each is measured
    Seconds settle;
};

struct Parameters : study::Options {
    Parameters() : Options("mpiio") {}

    std::vector<std::string> spatial;   ///< empty: all eight, or the own one
    std::vector<std::string> temporal;  ///< empty: all five
    Bytes size{4 * MiB};
    std::vector<Bytes> buffers{{4 * KiB}, {16 * KiB}, {64 * KiB}, {256 * KiB}, {MiB}};
    std::optional<std::string> levels_text;
    std::optional<Bytes> rank_stride;
    std::int64_t nested_count = 4;
    std::optional<Bytes> nested_gap;
    std::vector<std::string> layouts{"c-c"};
    Bytes spacing{1 * KiB};
    std::vector<std::string> calls{"independent"};
    std::vector<std::string> by{"list"};
    std::vector<std::string> sieving{"automatic"};
    std::vector<std::string> two_phase{"automatic"};
    Seconds settle;
    std::int64_t seed = 1;
    std::string prefix = "pio";
    std::optional<std::string> config;

    void declare(OptionTable& table);
    Status check();
    /// Patterns of the options.
    Status set_modules();
    /// Patterns of the configuration file (docs/definitions/pio.md, Configuration file) whose text
    /// this is; what it leaves out is as the options say.
    Status set_modules(const std::string& text);
    /// What each module needs, wherever it comes from.
    Status check_modules() const;

    // Filled by the two above.
    std::vector<Module> modules;
    Levels levels;
};

Result<study::Definition> define(const Parameters& parameters, int ranks);

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::pio
