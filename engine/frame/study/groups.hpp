// SPDX-License-Identifier: BSD-3-Clause
// The files of a study's cells: which exist and are removed together, and how much they take.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "frame/study/measure.hpp"

namespace effio::study {

/// Cells whose files are removed together; they are next to each other.
struct Group {
    std::span<const Cell> cells;
    struct Set {
        std::string name;  ///< Cell::file
        FileSet files;
        std::vector<FileSet> more;  ///< what the storage makes next to them
    };
    std::vector<Set> sets;
    bool writes = false;

    const FileSet& files_of(const Cell& cell) const;
};

/// `ranks` are those of the run.
std::vector<Group> groups_of(std::span<const Cell> cells, const Backends& backends, int ranks);

/// For each pass of a cell (one of `cells` on the same files): the pass that comes after it on what
/// it wrote.
std::vector<NextPass> next_passes(std::span<const Cell> cells, const Cell& cell);

/// All of them, each name once: files of one name replace each other.
std::vector<FileSet> files_of(const std::vector<Group>& groups);

/// The most that is on storage at a time.
struct OnStorage {
    double bytes = 0;
    double files = 0;
};
OnStorage on_storage(const Definition& definition, const StorageOptions& storage);

}  // namespace effio::study
