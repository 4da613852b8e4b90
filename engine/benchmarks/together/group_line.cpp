// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/together/group_line.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/units.hpp"

namespace effio::together {

Result<std::vector<std::string>> split_command_line(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
            if (in_word) words.push_back(std::move(word));
            word.clear();
            in_word = false;
            continue;
        }
        in_word = true;
        if (c == quote) {
            quote = 0;
        } else if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == '\\' && quote != '\'') {
            const bool last = i + 1 == text.size();
            if (last && quote == 0) return usage_error("a backslash at the end takes nothing");
            const bool takes = !last && (quote == 0 || text[i + 1] == '"' || text[i + 1] == '\\');
            word += takes ? text[++i] : c;
        } else {
            word += c;
        }
    }
    if (quote != 0) return usage_error(fmt::format("a quote ({}) is not closed", quote));
    if (in_word) words.push_back(std::move(word));
    return words;
}

Result<GroupLine> parse_group_line(std::string_view text) {
    constexpr const char* form = "\"RANKS: BENCHMARK [options]\"";
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) {
        return usage_error(fmt::format("'{}' is not of the form {}", text, form));
    }
    GroupLine line;
    auto words = split_command_line(text.substr(0, colon));
    if (!words) return words.error();
    const auto ranks = parse_integer(words->size() == 1 ? words->front() : "");
    if (!ranks || *ranks < 1 || *ranks > std::numeric_limits<int>::max()) {
        return usage_error(
            fmt::format("'{}' before the colon is not a positive number of ranks; {}",
                        text.substr(0, colon), form));
    }
    line.ranks = *ranks;
    words = split_command_line(text.substr(colon + 1));
    if (!words) return words.error();
    if (words->empty()) {
        return usage_error(fmt::format("no benchmark after the colon; {}", form));
    }
    line.words = std::move(*words);
    return line;
}

}  // namespace effio::together
