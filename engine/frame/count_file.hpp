// SPDX-License-Identifier: BSD-3-Clause
// A number in a file: how much a run did that a stonewall stopped, for a later run that reads it.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace effio {

/// Reads a count >= 1 that is alone in the file; `what` it counts ("calls"), for the message.
Result<std::int64_t> read_count(const std::string& path, const char* what);
Status write_count(const std::string& path, std::int64_t count);

}  // namespace effio
