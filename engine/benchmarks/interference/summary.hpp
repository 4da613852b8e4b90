// SPDX-License-Identifier: BSD-3-Clause
// Results of the turns: slow-downs, and which phase met which (docs/definitions/interference.md).
// No MPI.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/interference/turns.hpp"
#include "core/fields.hpp"
#include "core/json.hpp"
#include "core/record.hpp"

namespace effio::interference {

/// The kind of a measurement as people say it: its access and its pattern.
struct Kind {
    std::string access;
    std::string pattern;
    auto operator<=>(const Kind&) const = default;
    /// "write (shared)"
    std::string text() const;
};

/// One measurement of a group in a turn.
struct Row {
    Kind kind;
    std::string cell;     ///< what is compared with what: kind and coordinates, as text
    bool counts = false;  ///< of the first run of its group, valid, and with a rate
    double rate = 0;
    std::string unit;
    bool higher_is_better = true;
    std::int64_t bytes = 0;
    std::int64_t operations = 0;
    double seconds = 0;
    bool when_known = false;
    double begin = 0;  ///< seconds since the common start
    double end = 0;
    std::int64_t errors = 0;  ///< wrong data
    bool failed = false;      ///< of the first run of its group, and not valid
};

/// A row from a line of a result file, and back as few characters as will do. `first`: from the
/// first run.
Row row_of(const Json& line, bool first);
Json to_json(const Row& row);
Row row_from(const Json& json);

/// What a group did in a turn.
struct Part {
    int group = 0;
    bool well = false;      ///< its first run ended as it should
    std::string reason;     ///< why it did not, where the turn found that and not the benchmark
    double seconds = 0;     ///< of the first run, from the common start
    double covered = 0;     ///< until when it was at work, with its further runs
    std::int64_t runs = 0;  ///< the first and the further ones
    std::vector<Row> rows;
};

struct TurnDone {
    std::int64_t round = 0;
    Turn turn;
    std::vector<Part> parts;  ///< of the groups of the turn, in their order
};

/// The groups of the turn but `group`: "2", "2,3"; empty alone.
std::string others(const Turn& turn, int group);

/// Seconds from the common start.
struct Span {
    double begin = 0;
    double end = 0;
};

/// Seconds in which one of `mine` and one of `theirs` ran at the same time, summed over all pairs.
double overlap_seconds(const std::vector<Span>& mine, const std::vector<Span>& theirs);

/// How much slower a group is next to others than alone.
struct SlowDown {
    int group = 0;
    std::string others;
    Kind kind;                    ///< empty: over all kinds
    std::vector<double> factors;  ///< one for each round that has both
    /// Measurements of the group in these rounds, alone and together with the others.
    std::int64_t valid = 0;
    std::int64_t invalid = 0;
    std::int64_t wrong = 0;  ///< pieces of wrong data in valid ones
};

/// The same with the benchmarks of all groups.
struct SlowDownOf {
    const SlowDown& of;
    const std::vector<std::string>& benchmarks;
};
const Fields<SlowDownOf>& slow_down_place_fields();
const Fields<SlowDown>& slow_down_fields();

struct Met {
    int group = 0;
    Kind kind;
    int other = 0;
    Kind other_kind;
    double seconds = 0;   ///< in all rounds
    double fraction = 0;  ///< of all seconds of the kind next to the other group
};

class Summary {
  public:
    void add(TurnDone done) { turns_.push_back(std::move(done)); }
    /// For each group and its neighbors: over all kinds first, then each kind.
    std::vector<SlowDown> slow_downs() const;
    /// Pairs of phases that met at all.
    std::vector<Met> met() const;

  private:
    std::vector<TurnDone> turns_;
};

/// The geometric mean of the factors with its 95 % interval, from their logarithms.
Figure figure_of(const SlowDown& slow_down, const std::vector<std::string>& benchmarks);

}  // namespace effio::interference
