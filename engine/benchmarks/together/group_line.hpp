// SPDX-License-Identifier: BSD-3-Clause
// What `--group` takes: "4: ior --block 1GiB", a number of ranks and a command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace effio::together {

struct GroupLine {
    std::int64_t ranks = 1;
    std::vector<std::string> words;  ///< the benchmark and its options
};

Result<GroupLine> parse_group_line(std::string_view text);

/// The words of a command line as a shell splits it, without anything it would replace: in single
/// quotes all is taken literally; elsewhere a backslash takes the next character as it is, in
/// double quotes only a quote or another backslash.
Result<std::vector<std::string>> split_command_line(std::string_view text);

}  // namespace effio::together
