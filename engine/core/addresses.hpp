// SPDX-License-Identifier: BSD-3-Clause
// Which bytes of a file the calls of one rank move, and in which order: pure arithmetic, computed
// for each call and not stored.
//
// A rank's data are a stream of pieces of equal length, numbered in the order of the file. They are
// moved one a call, in some order, or all by one call through a view, as the user of the addresses
// likes. Places and lengths are bytes.
#pragma once

#include <cstdint>
#include <optional>

#include "core/layout.hpp"

namespace effio {

class Addresses {
  public:
    /// None.
    Addresses() : Addresses(0, Strides{1, {{0, 0}}}) {}
    /// Pieces at nested strides from `first` on.
    Addresses(std::int64_t first, Strides strides);
    /// A box of an array that begins at `first`; its pieces are the box's rows: what stands
    /// together in the array.
    Addresses(std::int64_t first, Box box);
    /// Pieces at `first` + the places of a list that does not fall.
    Addresses(std::int64_t first, Listed list);

    /// The same pieces in another order. Order::shuffled moves each once; Order::random draws each
    /// call's piece anew, with repeats. Equal seeds give equal orders.
    Addresses in(Order order, std::uint64_t seed) const;

    std::int64_t calls() const { return pieces_; }
    std::int64_t piece() const { return piece_; }
    std::int64_t bytes() const { return pieces_ * piece_; }
    Order order() const { return order_; }
    /// The box that was given, where one was.
    const std::optional<Box>& box() const { return box_; }
    /// Where the last byte of all ends; 0 without pieces.
    std::int64_t end() const { return pieces_ == 0 ? 0 : place(pieces_ - 1) + piece_; }

    /// The number of the piece that call 0 <= `call` < calls() moves.
    std::int64_t number(std::int64_t call) const {
        if (order_ == Order::sequential) [[likely]]
            return call;
        return scattered(call);
    }
    /// Where piece `number` begins in the file.
    std::int64_t place(std::int64_t number) const {
        if (listed_) [[unlikely]]
            return first_ + listed_->begin(number);
        return first_ + strides_.begin(number);
    }
    /// Places and lengths of all pieces are multiples of `unit`.
    bool aligned_to(std::int64_t unit) const;
    /// The view through which the pieces are one stream without holes, in the order of the file.
    View view() const;

  private:
    std::int64_t scattered(std::int64_t call) const;

    std::int64_t first_ = 0;
    std::int64_t piece_ = 1;
    std::int64_t pieces_ = 0;
    Strides strides_;
    std::optional<Listed> listed_;
    std::optional<Box> box_;
    std::int64_t array_begin_ = 0;  ///< of the box's array
    Order order_ = Order::sequential;
    std::uint64_t seed_ = 0;
    std::optional<Permutation> shuffle_;
};

}  // namespace effio
