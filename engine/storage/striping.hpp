// SPDX-License-Identifier: BSD-3-Clause
// How a new file is spread over the storage targets of Lustre. The library of Lustre's client
// (liblustreapi) is loaded when it is needed, so that the engine is built without it.
#pragma once

#include <cstdint>
#include <string>

#include "core/options.hpp"

namespace effio {

struct Striping {
    std::int64_t count = 0;   ///< storage targets; 0 is the directory's setting, -1 all
    Bytes size{0};            ///< in a row on each; 0 is the directory's setting
    std::int64_t start = -1;  ///< the first target; -1: Lustre chooses
    std::string pool;         ///< of targets; empty: any

    void declare(OptionTable& table);
    bool given() const { return count != 0 || size.count != 0 || start >= 0 || !pool.empty(); }
};

/// Creates an empty file with this striping. A file that exists keeps its own and is left alone.
/// Fails with ExitCode::environment where the library is missing, and as the library says where the
/// directory is not on Lustre.
Status make_striped(const std::string& path, const Striping& striping);

}  // namespace effio
