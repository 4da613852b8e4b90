// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/phases.hpp"

#include <array>

namespace effio::mdtest {

std::span<const Phase> all_phases() {
    using enum ItemKind;
    using enum Action;
    static constexpr std::array phases{
        Phase{tree, create, "create", "Tree creation", "create"},
        Phase{file, populate, "populate", "Pre-populating", ""},
        Phase{directory, create, "create", "Directory creation", "create"},
        Phase{directory, stat, "stat", "Directory stat", "stat", 1, true},
        Phase{directory, rename, "rename", "Directory rename", "rename", 2},
        Phase{directory, remove, "remove", "Directory removal", "remove", 3},
        Phase{file, create, "create", "File creation", "create"},
        Phase{file, stat, "stat", "File stat", "stat", 1, true},
        Phase{file, read, "read", "File read", "read", 2, true},
        Phase{file, list, "list", "Directory listing", "list", 1},
        Phase{file, find, "find", "File search", "find", 1},
        Phase{file, set_mode, "chmod", "File chmod", "chmod", 1},
        Phase{file, set_attribute, "setxattr", "File setxattr", "xattr", 1},
        Phase{file, get_attribute, "getxattr", "File getxattr", "xattr", 2},
        Phase{file, truncate, "truncate", "File truncate", "truncate", 1},
        Phase{file, hard_link, "link", "Hard link creation", "link", 1},
        Phase{file, remove_hard_link, "unlink-link", "Hard link removal", "link", 2},
        Phase{file, symbolic_link, "symlink", "Symlink creation", "symlink", 1},
        Phase{file, read_link, "readlink", "Symlink read", "symlink", 2},
        Phase{file, remove_symbolic_link, "unlink-symlink", "Symlink removal", "symlink", 3},
        Phase{file, rename, "rename", "File rename", "rename-files", 2},
        Phase{file, move, "move", "File move", "move-files", 2},
        Phase{file, remove, "remove", "File removal", "remove", 3},
        Phase{file, depopulate, "depopulate", "Removal of the pre-populated", "", 0},
        Phase{tree, remove, "remove", "Tree removal", "remove"},
    };
    return phases;
}

std::vector<std::string> phase_words() {
    return {"create", "stat", "read", "rename", "remove"};
}

std::vector<std::string> further_words() {
    return {"list", "find",    "chmod",        "xattr",     "truncate",
            "link", "symlink", "rename-files", "move-files"};
}

}  // namespace effio::mdtest
