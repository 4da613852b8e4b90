// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/cell.hpp"

#include <algorithm>

#include "core/units.hpp"

namespace effio::study {
Axis size_axis(const std::string& title, std::int64_t bytes) {
    return {title + "_bytes", title, "B", bytes, shown_size(Bytes{bytes})};
}

Axis count_axis(const std::string& title, std::int64_t count) {
    return {title, title, "1", count, std::to_string(count)};
}

Axis word_axis(const std::string& title, const std::string& word) {
    return {title, title, "", word, word};
}

std::string_view name(Headline headline) {
    switch (headline) {
        case Headline::strongest_and_weakest:
            return "strongest and weakest";
        case Headline::throughputs:
            return "throughputs";
        case Headline::enough:
            return "enough";
        case Headline::by_access:
            break;
    }
    return "by access";
}

std::vector<std::int64_t> doubled_up_to(int ranks) {
    std::vector<std::int64_t> list;
    for (std::int64_t n = 1; n < ranks; n *= 2) list.push_back(n);
    list.push_back(ranks);
    return list;
}

bool Cell::writes() const {
    return std::any_of(passes.begin(), passes.end(), [](const Pass& p) { return p.writes(); });
}

std::int64_t Cell::bytes_read(int rank) const {
    const bool reads = std::any_of(passes.begin(), passes.end(),
                                   [](const Pass& p) { return p.access != Access::write; });
    return reads ? std::visit([&](const auto& of) { return of.bytes_of(rank); }, data) : 0;
}

std::int64_t Cell::visits_in_all() const {
    const auto* items = std::get_if<Items>(&data);
    return items != nullptr ? items->visits_in_all : 0;
}

bool Cell::overlap() const {
    const auto* pieces = std::get_if<Pieces>(&data);
    return pieces != nullptr && pieces->overlap;
}

std::int64_t Cell::memory_spacing() const {
    const auto* pieces = std::get_if<Pieces>(&data);
    return pieces != nullptr ? pieces->memory_spacing : 0;
}

void Definition::add(Cell cell, const std::vector<std::string>& phases) {
    for (const auto& pass : {write_pass(), read_pass()}) {
        if (std::find(phases.begin(), phases.end(), pass.name) == phases.end()) continue;
        cell.passes = {pass};
        cells.push_back(cell);
    }
}

}  // namespace effio::study
