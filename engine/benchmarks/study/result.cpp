// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/study/result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/round_figures.hpp"

namespace effio::study {
namespace {

Json coordinates(const Cell& cell) {
    Json where = Json::object();
    for (const auto& axis : cell.axes) where[axis.name] = axis.value;
    return where;
}

Json place_of(const RankValue& rank) {
    return Json{{"rank", rank.rank}, {"host", rank.host}, {"seconds", rank.value}};
}

std::string axes_text(const Cell& cell) {
    std::string text;
    for (const auto& axis : cell.axes) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.title, axis.text);
    }
    return text;
}

/// The same but for the axis of the ranks.
bool alike(const Mean& a, const Mean& b, const std::string& axis) {
    Json of_a = a.where();
    Json of_b = b.where();
    of_a.erase(axis);
    of_b.erase(axis);
    return of_a == of_b;
}

}  // namespace

Measurement PassResult::to_measurement(const std::string& benchmark) const {
    Measurement m = VisitResult::to_measurement();
    m.benchmark = benchmark;
    m.pattern = cell->pattern;
    m.access = pass.name;
    m.where = coordinates(*cell);
    m.ranks = cell->ranks;
    m.nodes = nodes;
    m.repetition = repetition;
    Json spread = Json::object();
    for (std::size_t i = 0; i < variance.size(); ++i) spread[seconds[i].first] = variance[i];
    m.detail.update(Json{{"call", call},
                         {"counted_seconds", counted_seconds},
                         {"transfer_rate_bytes_per_second", transfer_rate()},
                         {"variance_over_ranks_seconds2", std::move(spread)},
                         {"rank_rates_bytes_per_second", rank_rates.to_json()},
                         {"slowest_rank", place_of(slowest)},
                         {"fastest_rank", place_of(fastest)},
                         {"batch_means", batch_means(batches, "B/s")},
                         {"backend", backend},
                         {"verification", Json{{"checked", checked()},
                                               {"timed_read_bytes", timed_reads},
                                               {"second_read_bytes", second_reads},
                                               {"not_verifiable_bytes", not_verifiable}}}});
    if (files > 0) {
        m.detail["files"] = files;
        m.detail["files_per_second"] = static_cast<double>(files) / counted_seconds;
    }
    return m;
}

std::string PassResult::checked() const {
    if (!verifies) return "nothing";
    if (not_verifiable > 0) return "nothing: overwritten before anything read it";
    if (pass.access == Access::write) {
        return second_reads > 0 ? "every byte, read back before it was overwritten"
                                : "nothing in this pass: what reads the files later is checked";
    }
    const std::int64_t one_way = data_bytes / pass.ways();
    if (pass.access == Access::modify) {
        return second_reads > 0
                   ? "every byte of the timed reads; what was written, by a second read"
                   : "every byte of the timed reads";
    }
    if (timed_reads > 0 && timed_reads == one_way) return "every byte of the timed reads";
    if (timed_reads == 0) return second_reads > 0 ? "every byte of a second read" : "nothing";
    return fmt::format("every byte of a second read, and {} of {} bytes of the timed reads",
                       timed_reads, one_way);
}

Json Mean::where() const {
    Json where = coordinates(*cell);
    where["pattern"] = cell->pattern;
    where["access"] = pass.name;
    return where;
}

std::vector<double> Mean::values() const {
    std::vector<double> all;
    for (const auto& [repetition, rate] : rounds) all.push_back(rate);
    return all;
}

std::string Mean::where_text() const {
    return fmt::format("{} {}, {}", cell->pattern, pass.name, axes_text(*cell));
}

void Means::add(const PassResult& result) {
    const auto number = static_cast<std::size_t>(result.cell - definition_.cells.data());
    Mean& mean = means_[{number, result.pass.name}];
    mean.cell = result.cell;
    mean.pass = result.pass;
    mean.cache = result.cache ? result.cache->verdict : "";
    mean.backend = result.backend;
    if (!result.valid) {
        mean.failed = true;
        return;
    }
    mean.rates.add(result.rate());
    mean.rounds[result.repetition] = result.rate();
    mean.transfer_rates.add(result.transfer_rate());
    mean.synced_rates.add(result.synced_rate());
    mean.hole_bytes = result.hole_bytes();
    mean.flushed = result.flushed();
    mean.seconds.add(result.counted_seconds);
    if (result.files > 0 && result.counted_seconds > 0) {
        mean.file_rates.push_back(static_cast<double>(result.files) / result.counted_seconds);
    }
}

std::optional<double> Means::peak_of(const Mean& mean) const {
    if (definition_.peak) return definition_.peak->count;
    std::optional<double> highest;
    for (const auto& [key, other] : means_) {
        if (other.cell->is_peak && other.cell->ranks == mean.cell->ranks &&
            other.pass.access == mean.pass.access && other.rates.count() > 0) {
            highest = std::max(highest.value_or(0), other.rates.mean());
        }
    }
    return highest;
}

std::vector<Mean> Means::list() const {
    std::vector<Mean> all;
    // Passes of a cell in the order of the cell, not of their names.
    for (std::size_t number = 0; number < definition_.cells.size(); ++number) {
        for (const auto& pass : definition_.cells[number].passes) {
            const auto found = means_.find({number, pass.name});
            if (found == means_.end()) continue;
            all.push_back(found->second);
            const auto peak = peak_of(all.back());
            if (!peak || all.back().cell->is_peak || all.back().rates.count() == 0) continue;
            all.back().share = all.back().rates.mean() / *peak;
        }
    }
    if (!definition_.scales_over.empty()) compare_with_fewest(all);
    return all;
}

void Means::compare_with_fewest(std::vector<Mean>& all) const {
    for (auto& mean : all) {
        const Mean* fewest = nullptr;
        for (const auto& other : all) {
            if (other.rates.count() == 0 || other.cell->is_peak != mean.cell->is_peak ||
                !alike(mean, other, definition_.scales_over)) {
                continue;
            }
            if (fewest == nullptr || other.cell->ranks < fewest->cell->ranks) fewest = &other;
        }
        if (fewest == nullptr || mean.rates.count() == 0) continue;
        mean.speed_up = mean.rates.mean() / fewest->rates.mean();
        mean.from_ranks = fewest->cell->ranks;
    }
}

std::vector<Flow> Means::flows(const std::vector<Mean>& means) const {
    std::vector<Flow> all;
    for (const auto& what : definition_.throughputs) {
        for (const auto& first : means) {
            if (first.cell->pattern != what.passes.front().first ||
                first.pass.name != what.passes.front().second) {
                continue;
            }
            Flow flow{&what, coordinates(*first.cell), axes_text(*first.cell), {}};
            double seconds = 0;
            std::size_t found = 0;
            for (const auto& mean : means) {
                const std::pair pass(mean.cell->pattern, mean.pass.name);
                if (std::find(what.passes.begin(), what.passes.end(), pass) == what.passes.end() ||
                    coordinates(*mean.cell) != flow.where || mean.seconds.count() == 0) {
                    continue;
                }
                seconds += mean.seconds.mean();
                ++found;
            }
            if (found == what.passes.size() && seconds > 0) flow.value = what.amount / seconds;
            all.push_back(std::move(flow));
        }
    }
    return all;
}

const Mean* Means::best(const std::vector<Mean>& means) {
    const Mean* best = nullptr;
    const auto rank_of = [](const Mean& m) {
        return std::pair(m.pass.access == Access::write, m.rates.mean());
    };
    for (const auto& mean : means) {
        if (mean.cell->is_peak || mean.rates.count() == 0) continue;
        if (best == nullptr || rank_of(mean) > rank_of(*best)) best = &mean;
    }
    return best;
}

}  // namespace effio::study
