// SPDX-License-Identifier: BSD-3-Clause
// The command line and the lines of partest (docs/definitions/partest.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/partest/partest.hpp"
#include "classic/classic.hpp"

namespace effio {

/// Options as single letters.
Result<ClassicProgram::Translation> translate_partest(const std::vector<std::string>& words,
                                                      const std::vector<std::string>& further);

/// "20M", "64Ki", "1GiB" count in 1024, "20MB" in 1000: two letters that end in a B.
Result<std::int64_t> parse_partest_size(std::string_view text);

/// Whose lines are wanted beside those of all tasks together.
struct PartestTasks {
    bool each = false;
    bool first = false;
    bool last = false;
    bool files = false;  ///< sums of each file of a container
    bool any() const { return each || first || last || files; }
};

/// Of one pass.
std::string classic_partest_report(const PartestTasks& tasks, const study::PassResult& result);

}  // namespace effio
