// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/cell.hpp"

#include <algorithm>

#include "core/pattern.hpp"
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
    if (std::none_of(passes.begin(), passes.end(),
                     [](const Pass& p) { return p.access != Access::write; })) {
        return 0;
    }
    if (streams) return streams->bytes(rank);
    const Addresses own = addresses(rank);
    return items ? items->visits(rank) * own.piece() : own.bytes();
}

Addresses Items::contents(std::int64_t files, std::int64_t bytes) {
    constexpr std::int64_t unit = StampedPattern::page;
    return {0, Strides{bytes, {{files, (bytes + unit - 1) / unit * unit}}}};
}

std::int64_t Streams::calls(std::int64_t length) const {
    if (length <= lead()) return length > 0 ? 1 : 0;
    return 1 + (length - lead() + request - 1) / request;
}

void Streams::count(int ranks) {
    bytes_in_all = calls_in_all = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const std::int64_t own = bytes(rank);
        bytes_in_all += own;
        calls_in_all += calls(own);
    }
}

Addresses Streams::contents(int rank) const {
    return {begin(rank), Strides{std::min(request, largest), {{calls(largest), request}}}};
}

std::optional<Blocks> Streams::blocks(int ranks) const {
    if (apart) return {};
    return Blocks{largest, largest, 1, ranks};
}

double Cell::bytes_in_all() const {
    if (streams) return static_cast<double>(streams->bytes_in_all);
    if (arrays) return static_cast<double>(arrays->bytes());
    const Addresses of_rank = addresses(0);
    if (items) {
        return static_cast<double>(items->visits_in_all) * static_cast<double>(of_rank.piece());
    }
    if (pieces_in_all) {
        return static_cast<double>(*pieces_in_all) * static_cast<double>(of_rank.piece());
    }
    return static_cast<double>(ranks) * static_cast<double>(of_rank.bytes());
}

double Cell::calls_in_all() const {
    if (streams) return static_cast<double>(streams->calls_in_all);
    const Addresses of_rank = addresses(0);
    if (items) {
        const std::int64_t each = (of_rank.piece() + items->request - 1) / items->request;
        return static_cast<double>(items->visits_in_all) * static_cast<double>(each);
    }
    if (through == Through::view) return static_cast<double>(ranks);
    if (pieces_in_all) return static_cast<double>(*pieces_in_all);
    return static_cast<double>(ranks) * static_cast<double>(of_rank.calls());
}

bool Cell::only_reads() const {
    return !writes();
}

void Definition::add(Cell cell, const std::vector<std::string>& phases) {
    for (const auto& pass : {write_pass(), read_pass()}) {
        if (std::find(phases.begin(), phases.end(), pass.name) == phases.end()) continue;
        cell.passes = {pass};
        cells.push_back(cell);
    }
}

}  // namespace effio::study
