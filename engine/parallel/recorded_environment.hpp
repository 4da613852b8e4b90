// SPDX-License-Identifier: BSD-3-Clause
// Which variables of the environment go into a result file. Results are mailed around, and an
// environment holds secrets: only names of this list and those that a site adds are recorded, and
// values that look like a token or an address with a password are masked even then. Command lines
// and hints are recorded whole, but for such values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json.hpp"

namespace effio {

/// The variable in which the driver passes the names that a site adds, with commas between them.
inline constexpr const char* site_names_variable = "EFFIO_RECORDED_VARIABLES";

/// The value to record of a variable that changes what MPI and I/O libraries do; "(not recorded)"
/// or is one of `site_names`; "(not recorded)" if its name is one of secrets; nothing for all other
/// variables.
std::optional<std::string> recorded_value(std::string_view name, std::string_view value,
                                          std::string_view site_names = {});

/// With "(masked)" in place of what looks like a secret.
std::string masked(std::string_view value);

/// The same for words of a command line. Paths and long names of files are common there, so a token
/// has small and capital letters and digits in one piece; the value of NAME=VALUE is masked if the
/// name is one of secrets.
std::string masked_argument(std::string_view argument);
/// All texts in a value, each as an argument.
Json masked_arguments(Json value);

}  // namespace effio
