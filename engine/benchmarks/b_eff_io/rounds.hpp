// SPDX-License-Identifier: BSD-3-Clause
// b_eff_io measured in rounds: values over all of them, their intervals, and what the next round is
// to measure (docs/definitions/b-eff-io.md, Rounds). Pure. Bytes and seconds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "benchmarks/b_eff_io/definition.hpp"
#include "core/rounds.hpp"

namespace effio::b_eff_io {

/// What a pattern type of an access moved, and the time of it with open and close.
struct Portion {
    double bytes = 0;
    double seconds = 0;
    double rate() const { return seconds > 0 ? bytes / seconds : 0; }
};

/// One partition in one round; what the round left out is empty.
struct Round {
    std::array<std::array<std::optional<Portion>, 5>, 3> types;
    bool has(Type type) const;
    double seconds(Type type) const;  ///< of all accesses
};

/// By partition, then by round; all partitions have as many rounds.
using Rounds = std::vector<std::vector<Round>>;

/// One partition over its rounds: a type's rate is the bytes of all rounds over their time, as if
/// one long run had been cut into pieces.
struct Pooled {
    std::array<std::array<Portion, 5>, 3> types;
    double rate(Access access, Type type) const { return types[index(access)][index(type)].rate(); }
    double average(Access access, bool rewrite) const;  ///< of scatter alone if no other rewrites
    double write_average() const;
    double effective_bandwidth() const;
};
using Formula = std::function<double(const std::vector<Pooled>&)>;
Formula of_partition(std::size_t partition, double (Pooled::*value)() const);
/// The highest effective bandwidth.
double best_partition(const std::vector<Pooled>& partitions);

struct Estimate {
    double value = 0;
    std::vector<double> values;              ///< one for each round: `values_by_leaving_out`
    std::optional<RoundsInterval> interval;  ///< empty below five rounds, or two of any part
};
Estimate estimate(const Rounds& rounds, const Formula& formula);

/// Which types of which partitions the next round measures.
using Choice = std::vector<std::array<bool, 5>>;
/// All of them.
Choice everything(std::size_t partitions);
/// Rounds that measure everything first: of few a type may seem quiet by chance, and would not be
/// looked at again.
inline constexpr std::int64_t least_of_everything = 5;
/// What narrows the interval of the best partition's value most, by what each type added to its
/// variance so far: another round of a type that was measured n times takes the 1/(n+1)-th of that
/// away, and costs its seconds. Measured are the types that bring at least `worth` of the best one
/// for each second; of partitions, those that may still be the best. Everything, where nothing
/// scatters or the rounds are fewer than `least`.
Choice next_round(const Rounds& rounds, std::int64_t least = least_of_everything,
                  double worth = 0.25);

}  // namespace effio::b_eff_io
