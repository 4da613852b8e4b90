// SPDX-License-Identifier: BSD-3-Clause
// The JSON type of the project: objects keep the order in which members were added. Reading and
// writing it is compiled once, in json.cpp: it is most of what the library makes of a source.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace effio {

using Json = nlohmann::ordered_json;

/// The value on one line, without its end. Bytes that are not UTF-8 are replaced by U+FFFD.
std::string json_line(const Json& value);
/// The same with each member on its own line, indented by two blanks.
std::string json_lines(const Json& value);
/// A discarded value if the text is not JSON.
Json parse_json(std::string_view text);

}  // namespace effio
