// SPDX-License-Identifier: BSD-3-Clause
// The options of the classic mdtest: which there are, and what they are for.
#pragma once

#include <string>

namespace effio {

struct MdtestOption {
    enum class Value { none, optional, needed };
    const char* name;  ///< one letter, or a long name
    Value value;
};

/// Null if there is none of this name.
const MdtestOption* find_mdtest_option(const std::string& name);

const char* mdtest_help();

}  // namespace effio
