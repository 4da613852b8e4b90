// SPDX-License-Identifier: BSD-3-Clause
// The names of IOR's files, as they are declared to the target.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/ior/parameters.hpp"
#include "storage/target.hpp"

namespace effio::ior {

/// The shared file is named by the stem alone; files of the processes by stem, "." and the worker's
/// number in eight digits, dealt out round-robin; with a file for each repetition
/// "." and its number follow.
class FileNames {
  public:
    FileNames(const Parameters& parameters, std::int64_t workers);
    /// With the files that the storage puts next to them.
    FileNames(const Parameters& parameters, std::int64_t workers, const Storage& storage);

    /// Each repetition's; then those next to them.
    const std::vector<FileSet>& sets() const { return sets_; }
    std::string path(const Target& target, std::int64_t worker, std::int64_t repetition) const;
    /// The same, and those next to it.
    std::vector<std::string> paths(const Target& target, std::int64_t worker,
                                   std::int64_t repetition) const;

  private:
    /// Where the worker's file is among `sets_`.
    std::size_t set_of(std::int64_t worker, std::int64_t repetition) const;

    std::int64_t directories_;  ///< one set in each, for every repetition that has its own
    bool shared_;
    bool each_repetition_;
    std::vector<FileSet> sets_;
    std::vector<std::vector<FileSet>> additional_;  ///< each of `sets_` that was there first
};

}  // namespace effio::ior
