// SPDX-License-Identifier: BSD-3-Clause
// Checks that the directories of the trees are the ones that this run made. A phase creates,
// changes and removes files by name, so in a replaced directory it would change files that belong
// to others.
#pragma once

#include <sys/types.h>

#include <vector>

#include "benchmarks/mdtest/workload.hpp"
#include "core/error.hpp"

namespace effio::mdtest {

class TreeGuard {
  public:
    /// Checks each directory of the trees of `owner`, untimed. Returns an error if one is not a
    /// directory (such as a symbolic link), or not the same as at the first check. A missing
    /// directory is not an error here; the phase reports it.
    Status look(const Paths& paths, int owner);

  private:
    struct Seen {
        dev_t device = 0;
        ino_t inode = 0;
    };

    Status look_at(const std::string& path, Seen& seen);

    std::vector<Seen> seen_;
};

}  // namespace effio::mdtest
