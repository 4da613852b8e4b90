// SPDX-License-Identifier: BSD-3-Clause
// Does a feature of the storage layer work here? Tried on a small file before a benchmark relies on
// it.
#pragma once

#include <string>

#include "parallel/session.hpp"
#include "storage/byte_file.hpp"

namespace effio {

struct ProbeResult {
    bool works = false;
    std::string note;  ///< what serves it, or what went wrong; one line, for people
};

/// Collective over the session's ranks. Writes and reads a file `path` with ordered calls of
/// unequal size and compares. The note names the library's component as far as its side files say.
ProbeResult probe_shared_pointer(Session& session, Storage& storage, const std::string& path);

}  // namespace effio
