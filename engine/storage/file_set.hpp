// SPDX-License-Identifier: BSD-3-Clause
// The names of files that a run makes.
#pragma once

#include <string>

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
    bool own_directory = false;  ///< indexed: each in a directory of its own, named by the index
    std::string directory{};     ///< one of the target's; empty = the first
    bool keep = false;           ///< not removed, whatever the target's `keep` says
    /// Of file number `i`, relative to the directory.
    std::string name(int i) const;
    /// The same with printf conversions of the index (and %% for %).
    std::string pattern() const;
};

}  // namespace effio
