// SPDX-License-Identifier: BSD-3-Clause
// What a killed run may have left behind that makes later ones hang.
#pragma once

#include <string>

namespace effio {

/// Open MPI's own MPI-IO opens files under a named semaphore, `sem.OMPIO_` and the file's name. A
/// run that is killed inside leaves it taken, and every later open of a file with this name on this
/// node waits for it. Returns the end of a sentence about a call on `path` that has not returned
/// for `silent_seconds`. It is empty if there is no such semaphore, or the call is older than it.
std::string left_semaphore(const std::string& path, double silent_seconds,
                           const std::string& folder = "/dev/shm");

}  // namespace effio
