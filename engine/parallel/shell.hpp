// SPDX-License-Identifier: BSD-3-Clause
// A command of the user's, run by this rank through the shell.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/named.hpp"
#include "parallel/session.hpp"

namespace effio {

/// What the command finds in its environment in addition to that of this process.
using ShellVariables = std::vector<Named<std::string>>;

/// `/bin/sh -c command`, waited for. Its input is empty, its output that of this rank. An error
/// names the command and how it ended: a code other than 0, a signal, or not started at all. If a
/// signal asks the run to stop, the command gets SIGTERM, and how it ends then is not an error; an
/// end of the job that is not orderly kills it.
Status run_in_shell(Session& session, const std::string& command, const ShellVariables& variables);

}  // namespace effio
