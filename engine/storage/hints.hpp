// SPDX-License-Identifier: BSD-3-Clause
// Hints to the I/O library: ordered key/value pairs with opaque values, and the rule file of
// b_eff_io ("info-file") that says which hints go where (docs/definitions/b-eff-io.md, Info file).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/named.hpp"

namespace effio {

class Hints {
  public:
    /// A later value of the same key replaces the earlier one and keeps its place.
    void set(const std::string& key, const std::string& value);
    bool empty() const { return pairs_.empty(); }
    std::optional<std::string> get(const std::string& key) const;
    auto begin() const { return pairs_.begin(); }
    auto end() const { return pairs_.end(); }
    /// Hints for records: values that look like a secret are masked.
    Json to_json() const;
    friend bool operator==(const Hints&, const Hints&) = default;

  private:
    std::vector<Named<std::string>> pairs_;
};

/// What a library says of the hints of an open file.
struct GrantedHints : Hints {
    /// It hands back keys that it cannot know: what is here may be an echo of what was asked,
    /// which says nothing of its effect. False: it drops what it does not know, or none was asked.
    bool echoes = false;
};

/// Names that a benchmark gives to its cells; a rule must use them (or `all`).
struct HintVocabulary {
    std::vector<std::int64_t> processes;
    std::vector<std::string> accesses;
    std::vector<std::string> patterns;
    std::vector<std::int64_t> chunks;  ///< bytes
    std::size_t max_key_length = 255;
    std::size_t max_value_length = 1023;
    bool original_words = false;  ///< error messages are those of the original b_eff_io
};

class HintRules {
  public:
    /// Lines `<processes> <access> <pattern> <chunk> <key> <value…>`; `chunk` is a size of the
    /// vocabulary in bytes, `on_open`, `Lmax` or `all`. Reports every faulty line in one error
    /// whose cause has one message per line.
    static Result<HintRules> parse(const std::string& text, const std::string& file_name,
                                   const HintVocabulary& vocabulary);
    static Result<std::string> read_file(const std::string& path);

    bool empty() const { return rules_.empty(); }

    /// A cell's coordinates. `processes` is 0 where no rule with a number may match.
    struct FilePlace {
        std::int64_t processes = 0;
        std::string access;
        std::string pattern;
    };
    /// Hints for opening the file of these cells.
    Hints for_open(const FilePlace& cell) const;
    /// Hints for one row. The Lmax row is found by name only; its size in bytes does not match.
    Hints for_row(const FilePlace& cell, std::int64_t chunk, bool is_lmax) const;

  private:
    enum class Scope { all, on_open, lmax, chunk };
    struct Rule {
        std::optional<std::int64_t> processes;
        std::optional<std::string> access;
        std::optional<std::string> pattern;
        Scope scope = Scope::all;
        std::int64_t chunk = 0;
        std::string key;
        std::string value;
    };
    static bool matches(const Rule& rule, const FilePlace& cell);

    std::vector<Rule> rules_;
};

}  // namespace effio
