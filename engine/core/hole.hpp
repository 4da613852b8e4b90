// SPDX-License-Identifier: BSD-3-Clause
// Data that were never written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace effio {

/// All bytes are 0, as in a hole of a file.
inline bool is_hole(std::span<const std::byte> found) {
    return std::all_of(found.begin(), found.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace effio
