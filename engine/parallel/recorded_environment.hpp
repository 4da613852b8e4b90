// SPDX-License-Identifier: BSD-3-Clause
// Selects the environment variables that are recorded in a result file. Result files are shared,
// and an environment contains secrets. So only variables of a list, and those that a site adds, are
// recorded, and values that look like a token or an address with a password are masked. Command
// lines and hints are recorded completely, except for such values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json.hpp"

namespace effio {

/// The environment variable in which the driver passes the site's names, separated by commas.
inline constexpr const char* site_names_variable = "EFFIO_RECORDED_VARIABLES";

/// The value to record of a variable that changes what MPI and I/O libraries do, or is one of
/// `site_names`; "(not recorded)" if its name is that of a secret; empty for all other variables.
std::optional<std::string> recorded_value(std::string_view name, std::string_view value,
                                          std::string_view site_names = {});

/// The value with "(masked)" in place of all that looks like a secret.
std::string masked(std::string_view value);

/// The same for words of a command line. Paths and long file names are common there, so a token
/// must have lower and upper case letters and digits in one piece. The value of NAME=VALUE is
/// masked if the name is that of a secret.
std::string masked_argument(std::string_view argument);
/// The value with masked_argument() applied to all texts in it.
Json masked_arguments(Json value);

}  // namespace effio
