// SPDX-License-Identifier: BSD-3-Clause
// The one printer of text tables. Each column names its unit in the heading.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace effio {

class Table {
  public:
    enum class Align { left, right };
    struct Column {
        std::string heading;
        Align align = Align::right;
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// One cell per column; missing cells at the end are empty.
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    void rule() { rows_.emplace_back(); }
    /// Lines of equal layout, each ending in a newline; `indent` blanks before each.
    std::string text(std::size_t indent = 0) const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;  ///< an empty row is a rule
};

/// Columns that `text` (UTF-8, letters without a width apart) takes on a screen.
std::size_t display_width(std::string_view text);

/// `text` broken at blanks so that lines hold at most `width` characters, each further line after
/// `indent` blanks.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace effio
