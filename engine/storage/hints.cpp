// SPDX-License-Identifier: BSD-3-Clause
#include "storage/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "parallel/recorded_environment.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr std::size_t max_line = 2000;

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

std::optional<std::int64_t> number(const std::string& text) {
    if (text.empty() || text.size() > 18 ||
        !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
        return {};
    }
    return std::stoll(text);
}

/// The next blank-separated word of `line` from `at` on.
std::string next_word(const std::string& line, std::size_t& at) {
    at = std::min(line.find_first_not_of(" \t", at), line.size());
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    std::string word = line.substr(at, end - at);
    at = end;
    return word;
}

}  // namespace

void Hints::set(const std::string& key, const std::string& value) {
    const auto it =
        std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& p) { return p.first == key; });
    if (it == pairs_.end()) {
        pairs_.emplace_back(key, value);
    } else {
        it->second = value;
    }
}

std::optional<std::string> Hints::get(const std::string& key) const {
    for (const auto& [k, v] : pairs_) {
        if (k == key) return v;
    }
    return {};
}

Json Hints::to_json() const {
    Json out = Json::object();
    for (const auto& [key, value] : pairs_) out[key] = masked_argument(value);
    return out;
}

Result<std::string> HintRules::read_file(const std::string& path) {
    return read_text("read the hints file", path);
}

Result<HintRules> HintRules::parse(const std::string& text, const std::string& file_name,
                                   const HintVocabulary& vocabulary) {
    HintRules rules;
    std::string faults;
    const auto fault = [&](int line, const std::string& what) {
        faults += fmt::format("{}error in info-file {}, line {}: {}", faults.empty() ? "" : "\n",
                              file_name, line, what);
    };
    std::istringstream lines(text);
    int line_number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++line_number;
        if (line.size() > max_line) {
            fault(line_number, fmt::format("line too long, more than {} characters", max_line));
            line.resize(max_line);
        }
        // Trailing blanks go; a carriage return stays part of the value, as in the original.
        line.erase(line.find_last_not_of(" \t") + 1);
        if (line.empty() || line[0] == '#') continue;

        Rule rule;
        std::size_t at = 0;
        const std::string processes = next_word(line, at);
        const std::string access = next_word(line, at);
        const std::string pattern = next_word(line, at);
        const std::string chunk = next_word(line, at);
        rule.key = next_word(line, at);
        at = std::min(line.find_first_not_of(" \t", at), line.size());
        rule.value = line.substr(at);

        if (rule.key.empty() || rule.key.size() > vocabulary.max_key_length) {
            fault(line_number,
                  fmt::format("line ignored - empty info key has more than {} (MPI_MAX_INFO_KEY) "
                              "characters",
                              vocabulary.max_key_length));
            continue;
        }
        std::string reasons;
        if (processes != "all") {
            rule.processes = number(processes);
            if (!rule.processes || !contains(vocabulary.processes, *rule.processes)) {
                reasons += " - invalid number of processes";
            }
        }
        if (access != "all") {
            rule.access = access;
            if (!contains(vocabulary.accesses, access)) reasons += " - invalid access value";
        }
        if (pattern != "all") {
            rule.pattern = pattern;
            if (!contains(vocabulary.patterns, pattern)) reasons += " - invalid pattern";
        }
        if (reasons.empty()) {
            const auto size = number(chunk);
            if (chunk == "all") {
                rule.scope = Scope::all;
            } else if (chunk == "on_open") {
                rule.scope = Scope::on_open;
            } else if (chunk == "Lmax") {
                rule.scope = Scope::lmax;
            } else if (size && contains(vocabulary.chunks, *size)) {
                rule.scope = Scope::chunk;
                rule.chunk = *size;
            } else {
                reasons += " - invalid chunk size";
            }
        }
        if (rule.value.size() > vocabulary.max_value_length) {
            reasons += fmt::format(" - info value has more than {} (MPI_MAX_INFO_VAL) characters",
                                   vocabulary.max_value_length);
        }
        if (!reasons.empty()) {
            fault(line_number, "line ignored" + reasons);
            continue;
        }
        rules.rules_.push_back(std::move(rule));
    }
    if (!faults.empty()) return usage_error(faults);
    return rules;
}

bool HintRules::matches(const Rule& rule, const Cell& cell) {
    return (!rule.processes || *rule.processes == cell.processes) &&
           (!rule.access || *rule.access == cell.access) &&
           (!rule.pattern || *rule.pattern == cell.pattern);
}

Hints HintRules::for_open(const Cell& cell) const {
    Hints hints;
    for (const auto& rule : rules_) {
        if ((rule.scope == Scope::on_open || rule.scope == Scope::all) && matches(rule, cell)) {
            hints.set(rule.key, rule.value);
        }
    }
    return hints;
}

Hints HintRules::for_row(const Cell& cell, std::int64_t chunk, bool is_lmax) const {
    Hints hints;
    for (const auto& rule : rules_) {
        const bool row = rule.scope == Scope::all || (rule.scope == Scope::lmax && is_lmax) ||
                         (rule.scope == Scope::chunk && !is_lmax && rule.chunk == chunk);
        if (row && matches(rule, cell)) hints.set(rule.key, rule.value);
    }
    return hints;
}

}  // namespace effio
