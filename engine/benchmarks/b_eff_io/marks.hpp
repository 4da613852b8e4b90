// SPDX-License-Identifier: BSD-3-Clause
// The marks of a row: the first and the last double of each chunk, 1e7 r + 1000 i + 10 p + a +
// (1 | 6), with the call number r from 0, the index i of the chunk's first double in the buffer,
// the row p and the access a (docs/definitions/b-eff-io.md, Marks).
//
// Placing and checking them is inside the measured interval, so what does not change from call to
// call is computed once. All terms are whole numbers below 2^53: their sums are exact in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "benchmarks/b_eff_io/definition.hpp"

namespace effio::b_eff_io {

/// The first wrong chunk of a call, in the original's terms: i counts doubles of the buffer.
struct WrongChunk {
    std::int64_t i = 0;
    double found_first = 0;
    double found_last = 0;
    double expected_first = 0;
    double expected_last = 0;
};

class Marks {
  public:
    Marks(const Row& row, Access access)
        : step_(static_cast<std::size_t>(row.chunk / 8)),
          doubles_(static_cast<std::size_t>(row.memory / 8)),
          first_(10.0 * row.number + static_cast<int>(access) + 1) {}

    double first(std::int64_t call, std::size_t i) const {
        return 1e7 * static_cast<double>(call) + first_ + 1000.0 * static_cast<double>(i);
    }
    double last(std::int64_t call, std::size_t i) const { return first(call, i) + to_last; }

    /// `buffer` is a span, or what has numbers with gaps (SpacedNumbers).
    template <class Numbers>
    void place(Numbers&& buffer, std::int64_t call) const {
        for (std::size_t i = 0; i < doubles_; i += step_) {
            buffer[i] = first(call, i);
            buffer[i + step_ - 1] = last(call, i);
        }
    }

    /// How many chunks do not hold their marks; the first of them goes to `wrong`.
    template <class Numbers>
    std::int64_t check(const Numbers& buffer, std::int64_t call,
                       std::optional<WrongChunk>& wrong) const {
        // In a chunk of one double the last mark overwrites the first.
        const double shift = step_ == 1 ? to_last : 0;
        std::int64_t bad = 0;
        for (std::size_t i = 0; i < doubles_; i += step_) {
            const double mark = first(call, i);
            if (buffer[i] == mark + shift && buffer[i + step_ - 1] == mark + to_last) [[likely]]
                continue;
            if (bad++ == 0) wrong = found_at(buffer, call, i);
        }
        return bad;
    }

  private:
    template <class Numbers>
    [[gnu::cold, gnu::noinline]] WrongChunk found_at(const Numbers& buffer, std::int64_t call,
                                                     std::size_t i) const {
        const double expected_first = first(call, i) + (step_ == 1 ? to_last : 0);
        return {static_cast<std::int64_t>(i), buffer[i], buffer[i + step_ - 1], expected_first,
                last(call, i)};
    }

    static constexpr double to_last = 5;
    std::size_t step_;     ///< doubles of a chunk
    std::size_t doubles_;  ///< of a call
    double first_;
};

}  // namespace effio::b_eff_io
