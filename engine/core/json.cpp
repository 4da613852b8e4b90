// SPDX-License-Identifier: BSD-3-Clause
#include "core/json.hpp"

namespace effio {

std::string json_line(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_lines(const Json& value) {
    return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json parse_json(std::string_view text) {
    return Json::parse(text.begin(), text.end(), nullptr, false);
}

}  // namespace effio
