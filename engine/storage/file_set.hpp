// SPDX-License-Identifier: BSD-3-Clause
// The names of files and directory trees that a run makes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "storage/removal.hpp"

namespace effio {

/// Files of one kind: one whose name is the stem, or, if indexed, `count` files whose names are the
/// stem and an index.
struct FileSet {
    std::string stem;
    int count = 1;
    bool indexed = false;
    int digits = 3;  ///< of the index, at least
    int first = 0;   ///< file number i has the index first + i * step
    int step = 1;
    std::string suffix{};        ///< behind the index
    bool own_directory = false;  ///< indexed: each in its own directory, named by the index
    std::string directory{};     ///< one of the target's; empty = the first
    bool keep = false;           ///< not removed, whatever the target's `keep` says
    /// Name of file number `i`, relative to the directory.
    std::string name(int i) const;
    /// The same with printf conversions of the index (and %% for %).
    std::string pattern() const;
};

/// Directory trees that the run makes (storage/own_tree.hpp) in `directory`: one whose name is the
/// stem, or as many as the product of the counts, whose names are the stem and an index for each
/// count, "-" between them. `names` account for what is removed with them.
struct TreeSet {
    std::string directory;
    std::string stem;
    std::vector<std::int64_t> counts;
    std::vector<NameSet> names{};
    std::int64_t count() const;
    /// Full path of tree `number` in 0…count()-1; the last index runs first.
    std::string path(std::int64_t number) const;
    Json to_json() const;  ///< {"directory", "name": "stem%d-%d", "counts", "names"}
};

/// "directory/name".
std::string joined(const std::string& directory, const std::string& name);

/// Absolute, so that whoever cleans up later finds it from any directory; `directory` itself if the
/// working directory is not known.
std::string absolute(const std::string& directory);

}  // namespace effio
