// SPDX-License-Identifier: BSD-3-Clause
// The MPI pio benchmark (PIObench) with HPIO's layouts (docs/definitions/pio.md) on the frame for
// studies.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/pio/patterns.hpp"
#include "frame/benchmark.hpp"
#include "frame/study/study.hpp"

namespace effio::pio {

/// What is done to a pattern's file, in this order, whatever the order they were asked in.
enum class Temporal { write, re_write, read, re_read, read_modify_write };
inline const Words<Temporal>& temporal_words() {
    static const Words<Temporal> words{{"write", Temporal::write},
                                       {"re-write", Temporal::re_write},
                                       {"read", Temporal::read},
                                       {"re-read", Temporal::re_read},
                                       {"read-modify-write", Temporal::read_modify_write}};
    return words;
}
/// All five; of a mesh, as of the original's, writing and reading alone.
std::vector<Temporal> all_accesses_of(Spatial spatial);

/// Where there are holes.
struct Layout {
    bool memory = false;  ///< between the buffers of a rank
    bool file = false;    ///< behind each piece of the file
    bool operator==(const Layout&) const = default;
};
/// A hint's state; none: as the library does it.
using Switch = std::optional<bool>;

/// A pattern to be measured.
struct Module {
    Spatial spatial = Spatial::sequential;
    std::vector<Temporal> temporal;
    Bytes size;                  ///< of a rank's share
    std::vector<Bytes> buffers;  ///< sizes of a call; each is measured
    Seconds settle;
};

struct Parameters : study::Options {
    Parameters() : Options("mpiio") {}

    std::vector<Spatial> spatial;    ///< empty: all eight, or the own one
    std::vector<Temporal> temporal;  ///< empty: all five
    Bytes size{4 * MiB};
    std::vector<Bytes> buffers{{4 * KiB}, {16 * KiB}, {64 * KiB}, {256 * KiB}, {MiB}};
    std::optional<std::string> levels_text;
    std::optional<Bytes> rank_stride;
    std::int64_t nested_count = 4;
    std::optional<Bytes> nested_gap;
    std::vector<Layout> layouts{{}};
    Bytes spacing{1 * KiB};
    std::vector<study::Calls> calls{study::Calls::independent};
    std::vector<study::Through> by{study::Through::offsets};
    std::vector<Switch> sieving{{}};
    std::vector<Switch> two_phase{{}};
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
    /// Takes out the buffers and patterns that do not fit each other, wherever they come from, and
    /// lists the reasons in `left_out`. An error if none remains.
    Status check_modules();
    std::optional<std::string> misfit(const Module& module, Bytes buffer) const;

    // Filled by the two above.
    std::vector<Module> modules;
    std::vector<std::string> left_out;  ///< patterns and buffers that do not fit, with the reason
    Levels levels;
};

Result<study::Definition> define(const Parameters& parameters, int ranks);

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::pio
