// SPDX-License-Identifier: BSD-3-Clause
// IOR's -a and the options of its modules, as backends of ours.
#pragma once

#include <string>
#include <vector>

#include "classic/ior_options.hpp"

namespace effio {

struct IorBackend {
    std::vector<std::string> arguments;  ///< of our command line: backend, its settings, hints
    std::vector<std::string> notes;      ///< what is taken without effect
    bool collective = false;             ///< has collective calls, takes hints
    bool views = false;                  ///< calls can go through views
    std::int64_t queue_depth = 1;        ///< transfers of a task in flight
    std::vector<std::string> faults;     ///< what cannot be had
};
/// Reads the hints file and the environment (IOR_HINT__MPI__<hint>) of this process.
IorBackend backend_of(const IorOptions& options);

}  // namespace effio
