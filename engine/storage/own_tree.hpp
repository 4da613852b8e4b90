// SPDX-License-Identifier: BSD-3-Clause
// Directory trees that a run creates for itself and removes again: what it made in them, by name
// (storage/removal.hpp), and the directories when they are empty.
//
// A tree is created exclusively and holds, in its root, a mark: a file with the run's token. A tree
// that the run was asked to keep is handed over: it is the user's from then on, and holds nothing
// that mdtest itself would not have made. POSIX, local to the rank.
#pragma once

#include <span>
#include <string>

#include "core/error.hpp"
#include "storage/removal.hpp"

namespace effio {

/// The mark in the root of every own tree: one line, the token of the run.
inline constexpr const char* owner_file = ".effio-owner";

/// Creates the directory `path` (it must not exist) and the mark in it.
Status make_own_tree(const std::string& path, const std::string& token);

/// The token in the tree's mark; an error if there is no tree or no readable mark.
Result<std::string> owner_of_tree(const std::string& path);

/// Removes what `names` account for, then the mark, so that an interrupted removal can be taken up
/// again, then the tree. What else is in it stays, with the mark, and is an error that lists it. A
/// tree that does not exist is not an error. A tree with another token is an error and is not
/// touched. It is an error as well while files in the tree may only look removed: the mark stays.
Status remove_own_tree(const std::string& path, const std::string& token,
                       std::span<const NameSet> names);

/// The same for a tree of whatever run or program, with a mark or without.
Status remove_adopted_tree(const std::string& path, std::span<const NameSet> names);

/// What would stay.
Result<Left> unaccounted_in_tree(const std::string& path, std::span<const NameSet> names);

/// Removes the mark of this token, if it is there, and nothing else.
Status hand_over_tree(const std::string& path, const std::string& token);

}  // namespace effio
