// SPDX-License-Identifier: BSD-3-Clause
// `effio-mpi sion …`: what a user asks of a container. No MPI: one process, on a login node.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"

namespace effio::sion {

/// `words` after "sion". Answers on stdout, complaints on stderr.
ExitCode run_command(const std::vector<std::string>& words);

}  // namespace effio::sion
