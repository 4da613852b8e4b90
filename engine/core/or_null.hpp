// SPDX-License-Identifier: BSD-3-Clause
// JSON null for members of records that have no value.
#pragma once

#include <optional>

#include "core/json.hpp"

namespace effio {

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

}  // namespace effio
