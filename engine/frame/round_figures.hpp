// SPDX-License-Identifier: BSD-3-Clause
// The figures of a benchmark that is measured as a whole several times: in rounds (docs/reading.md,
// How many repetitions).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/batches.hpp"
#include "core/fields.hpp"
#include "core/record.hpp"
#include "core/rounds.hpp"

namespace effio {

/// Why a figure of a single round has no interval; for `detail.interval`.
Json no_interval(const std::string& why);
/// The member `interval` of a figure's detail.
FieldInfo interval_field();
/// What may make an interval unreliable: sentences without their full stop, one each; none where it
/// can be believed. `noun` is what was measured several times: "round", "repetition".
std::vector<std::string> doubts_of(const RoundsInterval& interval,
                                   const std::string& noun = "round");
/// What `detail.interval` says of one, and reasons if it may be unreliable. The mean of `interval`
/// is that of the figure or represents it.
void set_interval(Figure& figure, const RoundsInterval& interval, const std::string& method,
                  const std::string& noun = "round");
/// "± 3.1 % (95 %, 5 rounds)"; of two to four rounds their range, "-3 % to 4 % (range of 3
/// rounds)"; empty for one.
std::string interval_text(const Figure& figure);
/// How many values a mean is of, and what was wrong next to them, in a last table: "3", "3 + 1
/// INVALID, 2 WRONG"; `noun` is what is counted as wrong ("2 bytes WRONG").
std::string counted_text(std::int64_t valid, std::int64_t invalid, std::int64_t wrong,
                         const std::string& noun = {});
/// Why a mean of `count` values has no interval.
std::string too_few_for_interval(std::int64_t count, const std::string& noun);

/// The figure with the mean of values that were measured one after another, in their order: its
/// samples, its interval or why there is none, and what makes that unreliable. Without values it
/// has none itself, because of `missing`.
Figure mean_of(Figure figure, std::span<const double> values, const std::string& missing,
               const std::string& noun = "repetition");
/// A figure whose value is composed of means: samples and interval from the values `without` each
/// repetition (values_by_leaving_out), or why there is none.
Figure composed_of(Figure figure, std::span<const LeftOut> without,
                   const std::string& noun = "repetition");
/// `detail.batch_means` of a measurement: the interval of the rate of its calls, or why there is
/// none.
struct BatchMeans {
    explicit BatchMeans(const Batches& batches);

    std::optional<RoundsInterval> of;
    std::string none;
    double slice_seconds = 0;
    std::vector<std::string> doubts = {};
};
/// `unit` is that of the rates: bytes or operations per second.
const Fields<BatchMeans>& batch_means_fields(Unit unit);
/// "calls ± 3.1 % (95 %, 40 slices)", with what makes it unreliable; empty without an interval.
std::string batch_means_text(const Batches& batches);
/// For tables: half the width of such a mean's interval; empty below five values.
std::optional<double> half_width_of(std::span<const double> values);
/// How precise such a mean is, behind its text: " ± X" from five values on, " (X to X)" of two to
/// four, which have a range only, and nothing for a single one. `text` formats one value.
std::string precision_text(std::span<const double> values,
                           const std::function<std::string(double)>& text);
/// Lines for people below a table of means: one for each that may be unreliable, as `text` calls
/// it; empty without any.
struct NamedValues {
    std::string text;
    std::vector<double> values;
};
std::string doubts_text(std::span<const NamedValues> means, const std::string& noun = "repetition");

/// Takes the figures of each round and gives their means. The root's.
class RoundFigures {
  public:
    /// A figure of the present round. One that has no value in some round has none at the end.
    void add(Figure figure);
    void end_round() { ++rounds_; }
    std::int64_t rounds() const { return rounds_; }
    /// The figures in the order of their first round. After one round as they came, and
    /// `detail.interval` says why there is none; after several the means, with samples and
    /// interval, and all else as in the last round.
    std::vector<Figure> figures() const;

  private:
    struct FigureRounds {
        Figure last;
        std::vector<double> values;
        std::string missing;  ///< why a round has no value
    };
    std::int64_t rounds_ = 0;
    std::vector<FigureRounds> series_;
};

}  // namespace effio
