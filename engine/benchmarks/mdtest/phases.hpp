// SPDX-License-Identifier: BSD-3-Clause
// The phases of an iteration, in their order (docs/definitions/mdtest.md, Phases).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/mdtest/workload.hpp"

namespace effio::mdtest {

enum class Action {
    populate,  ///< files that are there before anything else
    create,    ///< tree: its directories
    stat,
    read,  ///< open for reading, read what was written, close
    list,  ///< readdir of each directory of the tree
    find,  ///< each entry of the tree looked up, those with a name and a size counted
    set_mode,
    set_attribute,
    get_attribute,
    truncate,
    hard_link,
    remove_hard_link,
    symbolic_link,
    read_link,
    remove_symbolic_link,
    rename,  ///< in a ring inside each directory
    move,    ///< to another directory and back
    remove,
    depopulate,
};

struct Phase {
    ItemKind thing;
    Action action;
    const char* access;      ///< in results, e.g. "create"
    std::string_view title;  ///< "File creation"
    std::string_view word;   ///< of --phases or --also; empty: always or by other options
    int shift = 0;           ///< whose items: this many times the rank shift further on
    bool may_shuffle = false;
};

/// All there are, in the order in which they run.
std::span<const Phase> all_phases();

/// What mdtest itself has, and what it lacks.
std::vector<std::string> phase_words();
std::vector<std::string> further_words();

}  // namespace effio::mdtest
