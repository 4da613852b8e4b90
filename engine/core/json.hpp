// SPDX-License-Identifier: BSD-3-Clause
// The JSON type of the project: objects keep the order in which members were added.
#pragma once

#include <nlohmann/json.hpp>

namespace effio {
using Json = nlohmann::ordered_json;
}
