// SPDX-License-Identifier: BSD-3-Clause
// Members of records that may have no value.
#pragma once

#include <optional>

#include "core/json.hpp"

namespace effio {

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

}  // namespace effio
