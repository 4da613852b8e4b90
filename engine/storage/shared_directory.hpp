// SPDX-License-Identifier: BSD-3-Clause
// Whether all nodes of a run see the same directories. A directory of each node under one name
// looks right to every rank, and its rates are those of local disks.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/error.hpp"
#include "parallel/session.hpp"

namespace effio {

/// Collective. The root makes a file `.effio-shared-TOKEN` in each directory for a moment, and one
/// rank of each node looks for it, for 5 s at most: clients of file servers may see names late. An
/// error names the directory and the first nodes that do not see the file.
///
/// Then the root twice writes the file and closes it: with TOKEN, and with TOKEN backwards. The
/// result is whether each node that opens the file afterwards reads that (close-to-open
/// consistency), in all directories. Empty where it was not tried: on one node, on a full file
/// system, where the root cannot make or write a file, where a node cannot read it.
Result<std::optional<bool>> check_shared(Session& session, std::span<const std::string> directories,
                                         const std::string& token);

}  // namespace effio
