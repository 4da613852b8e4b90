// SPDX-License-Identifier: BSD-3-Clause
// The comparison of I/O libraries as NERSC made it (docs/definitions/libraries.md): nine
// variables, each one four-dimensional array of doubles (x, y, z, process), and sets of hints to
// compare.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/addresses.hpp"
#include "core/error.hpp"
#include "storage/array_file.hpp"

namespace effio::libraries {

inline constexpr int default_variables = 9;

/// What the processes of one measured point write. A cube is one process's part of each variable in
/// weak scaling; in strong scaling the number of cubes is fixed and shared out.
struct Volume {
    std::int64_t edge = 96;
    std::int64_t cubes = 1;
    int processes = 1;
    int variables = default_variables;

    std::int64_t cells() const { return edge * edge * edge; }
    /// First cube of a process; all cubes for process = `processes`.
    std::int64_t first_cube(int process) const { return cubes * process / processes; }
    std::int64_t bytes() const { return cubes * cells() * 8 * variables; }
    /// The same with small cubes, for a pass before anything is timed: what a library does at its
    /// first use (buffers, connections, its caches) it does here.
    Volume warm_up() const { return {std::min(edge, warm_up_edge), cubes, processes, variables}; }
    static constexpr std::int64_t warm_up_edge = 32;
};

/// Shape [cubes][z][y][x], cubes shared out over the processes.
ArraySchema schema_of(const Volume& volume);

/// What a process moves, in a file that is nothing but the variables one after the other.
Addresses addresses_of(const Volume& volume, int process);

/// One way to tune: MPI-IO hints, settings of libraries, and the kind of access.
struct HintSet {
    std::string name;
    Hints hints;
    struct Setting {
        std::string backend;
        std::string pair;  ///< "key=value"
    };
    std::vector<Setting> settings;
    std::optional<ArrayAccess> access;

    /// "name:key=value,…": a key of MPI-IO, "<backend>.<setting>", or "access".
    static Result<HintSet> parse(const std::string& text);
    /// The settings for a backend as --backend-options takes them.
    std::string settings_of(std::string_view backend) const;
    /// Why the set changes nothing for a library; empty if it does (or is "none").
    std::string idle_for(std::string_view backend, const ArrayCapabilities& can) const;
};

/// Sets that can be named without giving them: "none", "largeblock", …
const std::vector<HintSet>& known_hint_sets();

/// Where the time of a library is spent: the layer below it moves the same bytes, too. Empty for
/// the lowest.
std::string_view layer_below(std::string_view backend);

}  // namespace effio::libraries
