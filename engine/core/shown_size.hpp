// SPDX-License-Identifier: BSD-3-Clause
// Exact sizes for people.
#pragma once

#include <string>

#include "core/units.hpp"

namespace effio {

/// As `format_exact`, which is for options, with a space before the unit, as in tables and titles:
/// "1 MiB", "1 MiB+8 B", "1500 B".
std::string shown_size(Bytes size);

}  // namespace effio
