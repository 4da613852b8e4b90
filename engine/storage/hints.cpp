// SPDX-License-Identifier: BSD-3-Clause
#include "storage/hints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "core/units.hpp"
#include "parallel/recorded_environment.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr std::size_t max_line = 2000;
constexpr std::size_t most_shown = 40;  // characters of a wrong word

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

std::string shortened(const std::string& word) {
    return word.size() <= most_shown ? word : word.substr(0, most_shown) + "…";
}

/// "3 is not a number of processes of this run: 1, 2, 4 or all".
template <class T>
std::string no_word_of(const std::string& word, std::string_view what,
                       const std::vector<T>& words) {
    return fmt::format(
        "{} is not {}: {}", shortened(word), what,
        words.empty() ? "only all applies" : fmt::format("{} or all", fmt::join(words, ", ")));
}

/// Collects the errors in the lines of a hints file, one text per line: in effio's words, or in
/// those of the original b_eff_io.
class FaultyLines {
  public:
    FaultyLines(const std::string& file, bool original) : file_(file), original_(original) {}
    void next_line() { ++line_; }
    void too_long() {
        add(original_ ? fmt::format("line too long, more than {} characters", max_line)
                      : fmt::format("the line has more than {} characters", max_line));
    }
    void note(const std::string& original, const std::string& plain) {
        if (!reasons_.empty()) reasons_ += original_ ? " - " : "; ";
        reasons_ += original_ ? original : plain;
    }
    bool in_this_line() const { return !reasons_.empty(); }
    /// True if the line had a fault.
    bool end_line() {
        if (reasons_.empty()) return false;
        add((original_ ? "line ignored - " : "") + reasons_);
        reasons_.clear();
        return true;
    }
    const std::string& text() const { return text_; }

  private:
    void add(const std::string& what) {
        text_ += fmt::format("{}{}{}, line {}: {}", text_.empty() ? "" : "\n",
                             original_ ? "error in info-file " : "", file_, line_, what);
    }

    const std::string& file_;
    bool original_;
    int line_ = 0;
    std::string reasons_;
    std::string text_;
};

}  // namespace

void Hints::set(const std::string& key, const std::string& value) {
    const auto it =
        std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& p) { return p.name == key; });
    if (it == pairs_.end()) {
        pairs_.emplace_back(key, value);
    } else {
        it->value = value;
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
    return read_text("cannot read the hints file", path);
}

Result<HintRules> HintRules::parse(const std::string& text, const std::string& file_name,
                                   const HintVocabulary& vocabulary) {
    HintRules rules;
    FaultyLines faults(file_name, vocabulary.original_words);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        faults.next_line();
        if (line.size() > max_line) {
            faults.too_long();
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
            faults.note(fmt::format("empty info key has more than {} (MPI_MAX_INFO_KEY) characters",
                                    vocabulary.max_key_length),
                        rule.key.empty()
                            ? "the key is missing; a line is PROCESSES ACCESS PATTERN CHUNK KEY "
                              "VALUE"
                            : fmt::format("the key {} has {}; MPI allows {}", shortened(rule.key),
                                          count_of(std::ssize(rule.key), "character"),
                                          vocabulary.max_key_length));
            faults.end_line();
            continue;
        }
        if (processes != "all") {
            rule.processes = number(processes);
            if (!rule.processes || !contains(vocabulary.processes, *rule.processes)) {
                faults.note("invalid number of processes",
                            no_word_of(processes, "a number of processes of this run",
                                       vocabulary.processes));
            }
        }
        if (access != "all") {
            rule.access = access;
            if (!contains(vocabulary.accesses, access)) {
                faults.note("invalid access value",
                            no_word_of(access, "an access of this benchmark", vocabulary.accesses));
            }
        }
        if (pattern != "all") {
            rule.pattern = pattern;
            if (!contains(vocabulary.patterns, pattern)) {
                faults.note("invalid pattern", no_word_of(pattern, "a pattern of this benchmark",
                                                          vocabulary.patterns));
            }
        }
        if (!faults.in_this_line()) {
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
                std::vector<std::string> words;
                for (const std::int64_t bytes : vocabulary.chunks) {
                    words.push_back(std::to_string(bytes));
                }
                words.emplace_back("Lmax");
                words.emplace_back("on_open");
                faults.note("invalid chunk size",
                            no_word_of(chunk, "a chunk size of this benchmark", words));
            }
        }
        if (rule.value.size() > vocabulary.max_value_length) {
            faults.note(fmt::format("info value has more than {} (MPI_MAX_INFO_VAL) characters",
                                    vocabulary.max_value_length),
                        fmt::format("the value of {} has {}; MPI allows {}", rule.key,
                                    count_of(std::ssize(rule.value), "character"),
                                    vocabulary.max_value_length));
        }
        if (faults.end_line()) continue;
        rules.rules_.push_back(std::move(rule));
    }
    if (!faults.text().empty()) return usage_error(faults.text());
    return rules;
}

bool HintRules::matches(const Rule& rule, const FilePlace& cell) {
    return (!rule.processes || *rule.processes == cell.processes) &&
           (!rule.access || *rule.access == cell.access) &&
           (!rule.pattern || *rule.pattern == cell.pattern);
}

Hints HintRules::for_open(const FilePlace& cell) const {
    Hints hints;
    for (const auto& rule : rules_) {
        if ((rule.scope == Scope::on_open || rule.scope == Scope::all) && matches(rule, cell)) {
            hints.set(rule.key, rule.value);
        }
    }
    return hints;
}

Hints HintRules::for_row(const FilePlace& cell, std::int64_t chunk, bool is_lmax) const {
    Hints hints;
    for (const auto& rule : rules_) {
        const bool row = rule.scope == Scope::all || (rule.scope == Scope::lmax && is_lmax) ||
                         (rule.scope == Scope::chunk && !is_lmax && rule.chunk == chunk);
        if (row && matches(rule, cell)) hints.set(rule.key, rule.value);
    }
    return hints;
}

}  // namespace effio
