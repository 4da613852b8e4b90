// SPDX-License-Identifier: BSD-3-Clause
// The directories of the trees are those that this run made: a phase creates, changes and removes
// by name, so in a directory that somebody put in their place it would work on files of others.
#pragma once

#include <sys/types.h>

#include <vector>

#include "benchmarks/mdtest/workload.hpp"
#include "core/error.hpp"

namespace effio::mdtest {

class TreeGuard {
  public:
    /// Looks at each directory of the trees of `owner`, untimed. An error for one that is not a
    /// directory, as a link is not, or not the one that was there at the first look. One that is
    /// missing is left to the phase, which says so.
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
