// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/rounds.hpp"

#include <algorithm>
#include <cmath>

namespace effio::b_eff_io {
namespace {

constexpr std::size_t nothing_left_out = static_cast<std::size_t>(-1);

/// `left_out` is a round; `only`, if given, the one type that it is left out of.
std::vector<Pooled> pool(const Rounds& rounds, std::size_t left_out = nothing_left_out,
                         std::optional<Type> only = {}) {
    std::vector<Pooled> all;
    for (const auto& partition : rounds) {
        Pooled& pooled = all.emplace_back();
        for (std::size_t r = 0; r < partition.size(); ++r) {
            for (const Access access : all_accesses) {
                for (const Type type : all_types) {
                    if (r == left_out && only.value_or(type) == type) continue;
                    const auto& portion = partition[r].types[index(access)][index(type)];
                    if (!portion) continue;
                    pooled.types[index(access)][index(type)].bytes += portion->bytes;
                    pooled.types[index(access)][index(type)].seconds += portion->seconds;
                }
            }
        }
    }
    return all;
}

std::int64_t times_measured(const std::vector<Round>& partition, Type type) {
    return std::count_if(partition.begin(), partition.end(),
                         [&](const Round& round) { return round.has(type); });
}

/// In how many rounds the parts of round `r` were measured: of the part with the most.
std::int64_t times_of_parts(const Rounds& rounds, std::size_t r) {
    std::int64_t most = 0;
    for (const auto& partition : rounds) {
        for (const Type type : all_types) {
            if (partition[r].has(type)) most = std::max(most, times_measured(partition, type));
        }
    }
    return most;
}

/// The variance that one type adds to the value.
double variance_of(const Rounds& rounds, std::size_t partition, Type type, const Formula& formula) {
    const std::int64_t n = times_measured(rounds[partition], type);
    if (n < 2) return 0;
    std::vector<double> without;
    for (std::size_t r = 0; r < rounds[partition].size(); ++r) {
        if (rounds[partition][r].has(type)) without.push_back(formula(pool(rounds, r, type)));
    }
    const double count = static_cast<double>(n);
    double mean = 0;
    for (const double value : without) mean += value / count;
    double squares = 0;
    for (const double value : without) squares += (value - mean) * (value - mean);
    return squares * (count - 1) / count;
}

}  // namespace

bool Round::has(Type type) const {
    return std::any_of(types.begin(), types.end(),
                       [&](const auto& access) { return access[index(type)].has_value(); });
}

double Round::seconds(Type type) const {
    double sum = 0;
    for (const auto& access : types) {
        if (access[index(type)]) sum += access[index(type)]->seconds;
    }
    return sum;
}

double Pooled::average(Access access, bool rewrite) const {
    if (access == Access::rewrite && !rewrite) return rate(access, Type::scatter);
    std::array<double, 5> rates{};
    for (const Type type : all_types) rates[index(type)] = rate(access, type);
    return access_average(rates);
}

double Pooled::write_average() const {
    std::array<double, 5> rates{};
    for (const Type type : all_types) rates[index(type)] = rate(Access::write, type);
    return b_eff_io::write_average(rates, rate(Access::rewrite, Type::scatter));
}

double Pooled::effective_bandwidth() const {
    return b_eff_io::effective_bandwidth(write_average(), average(Access::read, true));
}

Formula of_partition(std::size_t partition, double (Pooled::*value)() const) {
    return [=](const std::vector<Pooled>& all) { return (all[partition].*value)(); };
}

double best_partition(const std::vector<Pooled>& partitions) {
    double best = 0;
    for (const Pooled& p : partitions) best = std::max(best, p.effective_bandwidth());
    return best;
}

Estimate estimate(const Rounds& rounds, const Formula& formula) {
    Estimate found;
    found.value = formula(pool(rounds));
    if (rounds.empty()) return found;
    // Without the only round of a part there is no value.
    for (const auto& partition : rounds) {
        for (const Type type : all_types) {
            if (times_measured(partition, type) == 1) return found;
        }
    }
    std::vector<LeftOut> without;
    for (std::size_t r = 0; r < rounds.front().size(); ++r) {
        const std::int64_t times = times_of_parts(rounds, r);
        if (times == 0) continue;  // nothing in it
        const double value = formula(pool(rounds, r));
        if (!(value > 0)) return found;
        without.push_back({value, times});
    }
    found.values = values_by_leaving_out(found.value, without);
    found.interval = interval_of_rounds(found.values);
    return found;
}

Choice everything(std::size_t partitions) {
    std::array<bool, 5> all{};
    all.fill(true);
    return Choice(partitions, all);
}

Choice next_round(const Rounds& rounds, std::int64_t least, double worth) {
    Choice all = everything(rounds.size());
    if (rounds.empty() || static_cast<std::int64_t>(rounds.front().size()) < least) return all;
    struct Range {
        double low = 0;
        double high = 0;
    };
    std::vector<Range> ranges;
    double best_low = 0;
    for (std::size_t p = 0; p < rounds.size(); ++p) {
        const Estimate e = estimate(rounds, of_partition(p, &Pooled::effective_bandwidth));
        if (!e.interval) return all;
        ranges.push_back({e.value - e.interval->half_width, e.value + e.interval->half_width});
        best_low = std::max(best_low, ranges.back().low);
    }
    std::vector<std::array<double, 5>> gains(rounds.size());
    double best = 0;
    for (std::size_t p = 0; p < rounds.size(); ++p) {
        gains[p].fill(0);
        if (ranges[p].high < best_low) continue;
        const Formula value = of_partition(p, &Pooled::effective_bandwidth);
        for (const Type type : all_types) {
            const auto n = static_cast<double>(times_measured(rounds[p], type));
            double seconds = 0;
            for (const Round& round : rounds[p]) seconds += round.seconds(type) / n;
            if (!(seconds > 0)) continue;
            gains[p][index(type)] = variance_of(rounds, p, type, value) / (n + 1) / seconds;
            best = std::max(best, gains[p][index(type)]);
        }
    }
    if (!(best > 0)) return all;
    Choice chosen(rounds.size());
    for (std::size_t p = 0; p < rounds.size(); ++p) {
        for (const Type type : all_types) {
            chosen[p][index(type)] = gains[p][index(type)] >= worth * best;
        }
    }
    return chosen;
}

}  // namespace effio::b_eff_io
