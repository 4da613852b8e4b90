// SPDX-License-Identifier: BSD-3-Clause
// Options of repeating until intervals are narrow, and what a plan predicts from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/fields.hpp"
#include "core/options.hpp"

namespace effio {

/// --until-ci and --until-ci-limit. The number of repetitions that a benchmark has anyway is the
/// most there may be: whatever is computed from it (files, cap, plan) counts the most.
struct UntilCiOptions {
    static constexpr std::int64_t least = 10;  ///< repetitions
    static constexpr double least_seconds_unasked = 10;
    static constexpr std::int64_t most_unasked = 100;  ///< where their number is not given
    static constexpr double seconds_unasked = 600;     ///< where no limit is given

    std::optional<Share> share;
    std::optional<Seconds> limit;
    std::optional<Seconds> at_least;  ///< no narrow interval ends the run before this
    bool most_given = false;          ///< the number of repetitions was given (Option::notes)

    void declare(OptionTable& table);
    /// For a benchmark that repeats itself as a whole: the same, and --rounds.
    void declare_rounds(OptionTable& table, std::int64_t& rounds, const std::string& help);
    /// `most` is the value of the option `name`; not given, it becomes the most there may be.
    Status check(std::int64_t& most, std::string_view name, std::int64_t unasked = most_unasked);
    Status check_most(std::int64_t most, std::string_view name) const;

    bool on() const { return share.has_value(); }
    double least_seconds() const { return at_least ? at_least->count : least_seconds_unasked; }
    double limit_seconds() const { return limit ? limit->count : seconds_unasked; }

    /// What a plan predicts from the seconds of one repetition.
    struct Span {
        double least_repetitions = 1;
        double most_repetitions = 1;
        double least_seconds = 0;
        double most_seconds = 0;
        std::string repetitions;  ///< "3 repetitions", "3 to 100 repetitions, until …"
        std::string duration;     ///< "12 s", "12 s to 7 min"
        double share = 0;         ///< of --until-ci; 0 without it
        double limit_seconds = 0;
    };
    Span predict(std::int64_t most, std::string_view noun, double one_seconds) const;
};

/// Fields of a plan, for programs.
const Fields<UntilCiOptions::Span>& planned_until_ci_fields();

}  // namespace effio
