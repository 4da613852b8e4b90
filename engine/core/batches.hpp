// SPDX-License-Identifier: BSD-3-Clause
// Batch means: what one long pass says of how sure its rate is (Schmeiser 1982). The calls of a
// pass are autocorrelated; the means of slices of it that are long enough are so less, and what is
// left of that `interval_of_rounds` sees. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/rounds.hpp"
#include "core/series.hpp"

namespace effio {

/// The slices of a pass, all of the same length, and their rates in their order. Their mean is the
/// amount over the time (a ratio estimator). What is left over at the end belongs to none.
struct Batches {
    /// Fewer do not show whether they are autocorrelated.
    static constexpr std::int64_t least = RoundsInterval::least_to_see;
    /// More are joined: what is close is autocorrelated.
    static constexpr std::int64_t most = 100;
    /// Calls of each worker in a slice: a call that is cut into many slices would make them alike.
    static constexpr double least_calls = 4;

    std::vector<double> rates;  ///< amount per second
    double seconds = 0;         ///< of a slice, on average
    std::string none;           ///< why there are none, without a full stop; else empty

    std::optional<RoundsInterval> interval() const { return interval_of_rounds(rates); }
};

/// Slices of the same length, of a pass of `seconds` in which each worker made `calls`.
Batches batches_of(const TimeSeries& series, double seconds, double calls);

/// Notes when how many calls were over, at most `most_marks` times evenly spread over a loop whose
/// length is not known: one comparison a call.
class CallMarks {
  public:
    static constexpr std::size_t most_marks = 2 * Batches::most;

    /// Takes its memory, so it is made before any time is measured.
    CallMarks() { marks_.reserve(most_marks); }
    void begin(double now) { start_ = now; }
    /// `done` calls are over at `now`, a reading of the clock that `begin` was given.
    [[gnu::always_inline]] void note(std::int64_t done, double now) {
        if (done >= next_) [[unlikely]]
            keep(now);
    }
    /// Slices of equal time, four calls or more each on average; a call moves `amount`.
    Batches batches(double amount) const;

  private:
    [[gnu::noinline]] void keep(double now);

    double start_ = 0;
    std::int64_t each_ = 1;  ///< calls between marks
    std::int64_t next_ = 1;
    std::vector<double> marks_;  ///< mark i: (i + 1) * each_ calls were over
};

}  // namespace effio
