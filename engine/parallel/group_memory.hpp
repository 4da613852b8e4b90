// SPDX-License-Identifier: BSD-3-Clause
// What the control groups of this process leave of the node's memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace effio {

struct GroupMemory {
    std::int64_t limit_bytes = 0;      ///< the tightest of the group and those above it
    std::int64_t available_bytes = 0;  ///< what is left of it, with what its page cache would give
};

/// Reads /proc/self/cgroup and the files of the memory controller, version 1 or 2; nothing where no
/// group has a limit. `root` is put before the paths; tests put samples there.
std::optional<GroupMemory> find_group_memory(const std::string& root = "");

}  // namespace effio
