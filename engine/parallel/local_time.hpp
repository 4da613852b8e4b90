// SPDX-License-Identifier: BSD-3-Clause
// The time of day as people and the original programs write it.
#pragma once

#include <string>

namespace effio {

/// Now by this machine's clock and zone, in a form of strftime.
std::string local_now(const char* form);
/// As ctime prints it, without the line's end: "Sat Nov  1 08:05:00 2025".
std::string now_as_ctime();

}  // namespace effio
