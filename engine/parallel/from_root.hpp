// SPDX-License-Identifier: BSD-3-Clause
// Files and settings that only the root looks at.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "core/error.hpp"
#include "parallel/comm.hpp"

namespace effio {

/// Collective: what `read`, a Result of a number or a text, gives on the root becomes known to all;
/// its failure is a usage error of all. For files and settings that only the root looks at.
template <class Read>
auto from_root(const Comm& comm, Read&& read) -> decltype(read()) {
    std::decay_t<decltype(*read())> value{};
    std::string failure;
    if (comm.is_root()) {
        if (auto found = read(); found) {
            value = std::move(*found);
        } else {
            failure = found.error().text();
        }
    }
    comm.broadcast(failure);
    if (!failure.empty()) return usage_error(failure);
    comm.broadcast(value);
    return value;
}

}  // namespace effio
