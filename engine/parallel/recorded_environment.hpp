// SPDX-License-Identifier: BSD-3-Clause
// Which variables of the environment go into a result file. Results are mailed around, and an
// environment holds secrets: only names of this list are recorded, and values that look like a
// token or an address with a password are masked even then.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace effio {

/// The value to record of a variable that changes what MPI and I/O libraries do; "(not recorded)"
/// if its name is one of secrets; nothing for all other variables.
std::optional<std::string> recorded_value(std::string_view name, std::string_view value);

/// With "(masked)" in place of what looks like a secret.
std::string masked(std::string_view value);

}  // namespace effio
