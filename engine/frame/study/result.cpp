// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/certainty.hpp"
#include "core/fields.hpp"
#include "core/units.hpp"
#include "frame/readable.hpp"
#include "frame/round_figures.hpp"

namespace effio::study {
namespace {

Json coordinates(const Cell& cell) {
    Json where = Json::object();
    for (const auto& axis : cell.axes) where[axis.name] = axis.value;
    return where;
}

const Fields<RankValue>& rank_fields() {
    static const Fields<RankValue> fields{
        {"rank", Unit::count, "number of the rank", &RankValue::rank},
        {"host", Unit::word, "its node", &RankValue::host},
        {"seconds", Unit::seconds, "in its calls", &RankValue::value}};
    return fields;
}

const Fields<PassResult>& verification_fields() {
    using P = PassResult;
    static const Fields<P> fields{
        {"checked", Unit::word, "what was compared", &P::checked},
        {"timed_read_bytes", Unit::bytes, "as the timed calls read them", &P::timed_reads},
        {"second_read_bytes", Unit::bytes, "as an untimed read found them", &P::second_reads},
        {"not_verifiable_bytes", Unit::bytes, "overwritten before anything read them",
         &P::not_verifiable}};
    return fields;
}

std::string axes_text(const Cell& cell) {
    std::string text;
    for (const auto& axis : cell.axes) {
        if (axis.value.is_null()) continue;  // it does not apply to this cell
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
    m.detail = pass_fields().json(*this);
    return m;
}

Json PassResult::variances() const {
    Json all = Json::object();
    for (std::size_t i = 0; i < variance.size(); ++i) all[seconds[i].name] = variance[i];
    return all;
}

const Fields<PassResult>& pass_fields() {
    using P = PassResult;
    static const Fields<P> fields(
        visit_fields(),
        {{"call", Unit::word, "that moved the data", &P::call},
         {"counted_seconds", Unit::seconds, "over which the rate counts the bytes",
          &P::counted_seconds},
         {"transfer_rate_bytes_per_second", Unit::bytes_per_second,
          "over the slowest rank's calls alone", &P::transfer_rate},
         Field<P>("variance_over_ranks_seconds2", Unit::seconds_squared,
                  "of each part's seconds, with n-1", &P::variances)
             .by_name(),
         {"rank_rates_bytes_per_second", spread_fields(Unit::bytes_per_second),
          "of each rank's own calls", &P::rank_rates},
         {"slowest_rank", rank_fields(), "in its calls", &P::slowest},
         {"fastest_rank", rank_fields(), "in its calls", &P::fastest},
         {"batch_means", batch_means_fields(Unit::bytes_per_second),
          "interval of the rate within the pass", [](const P& r) { return BatchMeans(r.batches); }},
         {"backend", Unit::word, "that moved the data", &P::backend},
         {"verification", verification_fields(), "data that were compared"},
         Field<P>("files", Unit::count, "that were visited", &P::files).only_if([](const P& r) {
             return r.files > 0;
         }),
         Field<P>("files_per_second", Unit::operations_per_second, "over the counted seconds",
                  &P::file_rate)
             .only_if([](const P& r) { return r.files > 0; })});
    return fields;
}

std::string PassResult::checked() const {
    if (!verifies) return "nothing";
    if (not_verifiable > 0) return "nothing: overwritten before anything read it";
    if (pass.access == Access::write) {
        return second_reads > 0 ? "every byte of a second read"
                                : "nothing in this pass: what reads the files later is checked";
    }
    const std::int64_t one_way = data_bytes / pass.directions();
    if (pass.access == Access::modify) {
        return second_reads > 0
                   ? "every byte of the timed reads; what was written, by a second read"
                   : "every byte of the timed reads";
    }
    if (timed_reads > 0 && timed_reads == one_way) return "every byte of the timed reads";
    if (timed_reads == 0) return second_reads > 0 ? "every byte of a second read" : "nothing";
    return fmt::format("every byte of a second read, and {} of {} of the timed reads",
                       exact_size(timed_reads), exact_size(one_way));
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

std::optional<double> Mean::storage_fraction() const {
    return storage_share.value();
}

Whereabouts Mean::whereabouts() const {
    const auto fraction = storage_fraction();
    return fraction ? whereabouts_of(*fraction) : Whereabouts::unknown;
}

std::string Mean::evidence_text() const {
    const std::string remark = holes_remark(holes);
    return words(whereabouts(), storage_fraction(), !pass.writes()) +
           (remark.empty() ? "" : ", " + remark);
}

std::string Mean::fault_text() const {
    std::string text;
    if (wrong_in_cell > 0) {
        const bool arrays = std::holds_alternative<Arrays>(cell->data);
        text = count_of(wrong_in_cell, arrays ? "value" : "piece") + " WRONG";
    }
    if (invalid > 0) {
        text += fmt::format("{}{} of {} INVALID", text.empty() ? "" : ", ", invalid,
                            count_of(rates.count() + invalid, "repetition"));
    }
    return text;
}

std::string Mean::above_peak() const {
    const Whereabouts where = whereabouts();
    if (where == Whereabouts::cache || where == Whereabouts::mixed) {
        return fmt::format("above the peak: a cache took part ({})", evidence_text());
    }
    return fmt::format("above the {} peak: the peak is too low",
                       peak && peak->given ? "given" : "measured");
}

std::optional<double> Flow::value() const {
    if (values.empty()) return {};
    return arithmetic_mean(values);
}

std::string Mean::where_text() const {
    return fmt::format("{} {}, {}", cell->pattern, pass.name, axes_text(*cell));
}

std::string faults_of(const std::vector<Mean>& means) {
    std::string text;
    for (const auto& mean : means) {
        const std::string fault = mean.fault_text();
        if (!fault.empty()) text += fmt::format("  {}: {}\n", mean.where_text(), fault);
    }
    return text.empty() ? text : "\nWrong data or failed repetitions:\n" + text;
}

void Means::add(const PassResult& result) {
    const auto number = static_cast<std::size_t>(result.cell - definition_.cells.data());
    Mean& mean = means_[{number, result.pass.name}];
    mean.cell = result.cell;
    mean.pass = result.pass;
    mean.backend = result.backend;
    if (!result.valid) {
        ++mean.invalid;
        return;
    }
    mean.wrong += result.error_count;
    mean.storage_share.add(result.cache, result.bytes);
    if (result.cache && result.cache->holes) {
        mean.holes = std::max(mean.holes.value_or(0), *result.cache->holes);
    }
    mean.round_seconds[result.repetition] = result.counted_seconds;
    mean.rates.add(result.rate());
    mean.rounds[result.repetition] = result.rate();
    mean.transfer_rates.add(result.transfer_rate());
    mean.synced_rates.add(result.synced_rate());
    mean.round_synced_rates[result.repetition] = result.synced_rate();
    mean.hole_bytes = result.hole_bytes();
    mean.flushed = result.flushed();
    mean.seconds.add(result.counted_seconds);
    if (result.files > 0 && result.counted_seconds > 0) {
        mean.file_rates.push_back(static_cast<double>(result.files) / result.counted_seconds);
    }
}

std::int64_t Means::wrong_in_cell(const Mean& mean) const {
    const Cell& cell = *mean.cell;
    std::int64_t wrong = 0;
    for (const auto& [key, other] : means_) {
        // Studies that measure in rounds have a cell for each pass over the same files.
        const bool reads_it = mean.pass.writes() && !cell.file.empty() &&
                              other.cell->file == cell.file &&
                              coordinates(*other.cell) == coordinates(cell);
        if (other.cell == &cell || reads_it) wrong = std::max(wrong, other.wrong);
    }
    return wrong;
}

std::optional<Peak> Means::peak_of(const Mean& mean) const {
    if (definition_.peak) return Peak{definition_.peak->count, true, {}};
    const Mean* highest = nullptr;
    for (const auto& [key, other] : means_) {
        // Over all numbers of ranks: the path can do what any of them reaches.
        if (!other.cell->is_peak || other.pass.writes() != mean.pass.writes() ||
            other.rates.count() == 0) {
            continue;
        }
        if (highest == nullptr || other.rates.mean() > highest->rates.mean()) highest = &other;
    }
    if (highest == nullptr) return {};
    Mean with_faults = *highest;
    with_faults.wrong_in_cell = wrong_in_cell(*highest);
    return Peak{highest->rates.mean(),    false,           highest->values(), highest->where_text(),
                with_faults.fault_text(), highest->where()};
}

std::vector<Mean> Means::list() const {
    std::vector<Mean> all;
    // Passes of a cell in the order of the cell, not of their names.
    for (std::size_t number = 0; number < definition_.cells.size(); ++number) {
        for (const auto& pass : definition_.cells[number].passes) {
            const auto found = means_.find({number, pass.name});
            if (found == means_.end()) continue;
            all.push_back(found->second);
            all.back().wrong_in_cell = wrong_in_cell(all.back());
            if (all.back().cell->is_peak || all.back().rates.count() == 0) continue;
            all.back().peak = peak_of(all.back());
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
        const auto values = mean.values();
        const auto others = fewest->values();
        if (fewest != &mean && values.size() < 2) {
            mean.no_efficiency = "needs at least two repetitions";
        } else if (fewest != &mean && !are_apart(values, others)) {
            mean.no_efficiency = why_not_apart(std::min(std::ssize(values), std::ssize(others)));
        } else {
            mean.efficiency = *mean.speed_up * mean.from_ranks / mean.cell->ranks;
        }
    }
}

std::vector<Flow> Means::flows(const std::vector<Mean>& means) const {
    std::vector<Flow> all;
    for (const auto& what : definition_.throughputs) {
        for (const auto& first : means) {
            if (first.cell->pattern != what.passes.front().pattern ||
                first.pass.name != what.passes.front().access) {
                continue;
            }
            Flow flow{&what, coordinates(*first.cell), axes_text(*first.cell)};
            std::map<std::int64_t, double> seconds;
            std::map<std::int64_t, std::size_t> found;
            for (const auto& mean : means) {
                const CellPass pass{mean.cell->pattern, mean.pass.name};
                if (std::find(what.passes.begin(), what.passes.end(), pass) == what.passes.end() ||
                    coordinates(*mean.cell) != flow.where) {
                    continue;
                }
                if (flow.fault_text.empty()) flow.fault_text = mean.fault_text();
                for (const auto& [repetition, took] : mean.round_seconds) {
                    seconds[repetition] += took;
                    ++found[repetition];
                }
            }
            for (const auto& [repetition, took] : seconds) {
                if (found[repetition] != what.passes.size() || !(took > 0)) continue;
                flow.values.push_back(what.amount / took);
            }
            all.push_back(std::move(flow));
        }
    }
    return all;
}

namespace {

/// How certain it is that the bytes were on storage; a higher number is more certain.
int standing(const Mean& mean) {
    constexpr double some = 0.05;
    if (mean.holes.value_or(0) > some) return -1;
    switch (mean.whereabouts()) {
        case Whereabouts::device:
            return 3;
        case Whereabouts::mixed:
            return 2;
        case Whereabouts::unknown:
            return 1;
        case Whereabouts::cache:
            break;
    }
    return 0;
}

bool is_rate(const Mean& mean) {
    return !mean.cell->is_peak && mean.rates.count() > 0;
}

}  // namespace

std::vector<const Mean*> Means::best(const std::vector<Mean>& means) {
    std::vector<const Mean*> all;
    const auto rank_of = [](const Mean& m) { return std::pair(standing(m), m.rates.mean()); };
    for (const Access access : {Access::write, Access::read, Access::modify}) {
        const Mean* best = nullptr;
        for (const auto& mean : means) {
            if (!is_rate(mean) || mean.pass.access != access) continue;
            if (best == nullptr || rank_of(mean) > rank_of(*best)) best = &mean;
        }
        if (best != nullptr) all.push_back(best);
    }
    return all;
}

const Mean* Means::weakest(const std::vector<Mean>& means, const Mean& best) {
    const Mean* weakest = &best;
    for (const auto& mean : means) {
        if (!is_rate(mean) || mean.pass.access != best.pass.access ||
            standing(mean) != standing(best)) {
            continue;
        }
        if (mean.rates.mean() < weakest->rates.mean()) weakest = &mean;
    }
    return weakest;
}

}  // namespace effio::study
