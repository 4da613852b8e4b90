// SPDX-License-Identifier: BSD-3-Clause
// Directory trees that a run creates for itself and may remove with all that is in them.
//
// A tree is created exclusively and holds, in its root, a file with the run's token. Nothing is
// removed whose token is not the one expected; symbolic links are removed, never followed; what is
// mounted inside a tree is left alone and reported. POSIX, local to the rank.
#pragma once

#include <string>

#include "core/error.hpp"

namespace effio {

/// In the root of every own tree: one line, the token of the run.
inline constexpr const char* owner_file = ".effio-owner";

/// Creates the directory `path` (it must not exist) and the owner file in it.
Status make_own_tree(const std::string& path, const std::string& token);

/// The token in the tree's owner file; an error if there is no tree or no readable owner file.
Result<std::string> owner_of_tree(const std::string& path);

/// Removes the tree, the owner file last, so that an interrupted removal can be taken up again. A
/// tree that does not exist is no error; one with another token is.
Status remove_own_tree(const std::string& path, const std::string& token);

}  // namespace effio
