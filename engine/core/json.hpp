// SPDX-License-Identifier: BSD-3-Clause
// The JSON type of the project: objects keep the order in which members were added. The
// functions that read and write it are compiled once, in json.cpp: compiling them takes long.
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
