// SPDX-License-Identifier: BSD-3-Clause
// Whether all nodes of a run see the same directories. A directory of each node under one name
// looks right to every rank, and its rates are those of local disks.
#pragma once

#include <span>
#include <string>

#include "core/error.hpp"
#include "parallel/session.hpp"

namespace effio {

/// Collective. The root makes a file `.effio-shared-TOKEN` in each directory for a moment, and one
/// rank of each node looks for it, for 5 s at most: clients of file servers may see names late. An
/// error names the directory and the first nodes that do not see the file. A directory in which the
/// root cannot make a file is not judged here. Runs on one node pass.
Status check_shared(Session& session, std::span<const std::string> directories,
                    const std::string& token);

}  // namespace effio
