// SPDX-License-Identifier: BSD-3-Clause
#include "core/table.hpp"

#include <algorithm>
#include <sstream>

namespace effio {

std::size_t display_width(std::string_view text) {
    // Every byte but those that continue a letter.
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
}

std::string Table::text(std::size_t indent) const {
    std::vector<std::size_t> widths;
    for (const auto& column : columns_) widths.push_back(display_width(column.heading));
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], display_width(row[i]));
        }
    }
    std::string out;
    const auto put = [&](const auto& cell_of) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::string cell = cell_of(i);
            const std::string pad(widths[i] - display_width(cell), ' ');
            if (i > 0) line += "  ";
            line += columns_[i].align == Align::left ? cell + pad : pad + cell;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    };
    const auto rule = [&] { put([&](std::size_t i) { return std::string(widths[i], '-'); }); };
    put([&](std::size_t i) { return columns_[i].heading; });
    rule();
    for (const auto& row : rows_) {
        if (row.empty()) {
            rule();
        } else {
            put([&](std::size_t i) { return i < row.size() ? row[i] : std::string(); });
        }
    }
    return out;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
    std::string out;
    std::size_t used = 0;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const std::size_t wide = display_width(word);
        if (used > 0 && used + 1 + wide > width) {
            out += "\n" + std::string(indent, ' ');
            used = 0;
        }
        if (used > 0) {
            out += ' ';
            ++used;
        }
        out += word;
        used += wide;
    }
    return out;
}

}  // namespace effio
