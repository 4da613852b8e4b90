// SPDX-License-Identifier: BSD-3-Clause
#include "core/addresses.hpp"

#include <algorithm>
#include <utility>

#include "core/pattern.hpp"

namespace effio {
namespace {

/// The rows of a box as strides from its first element on.
Strides rows_of(const Box& box) {
    Strides rows{box.run(), {}};
    if (rows.piece == 0) return {1, {{0, 0}}};
    std::int64_t inside = box.element;  // what the dimensions from here on have of a row
    std::int64_t stride = box.element;
    for (std::size_t d = box.sizes.size(); d-- > 0;) {
        if (inside < rows.piece) {
            inside *= box.count[d];
        } else if (box.count[d] > 1) {
            rows.levels.push_back({box.count[d], stride});
        }
        stride *= box.sizes[d];
    }
    if (rows.levels.empty()) rows.levels.push_back({1, 0});
    return rows;
}

}  // namespace

Addresses::Addresses(std::int64_t first, Strides strides)
    : first_(first),
      piece_(strides.piece),
      pieces_(strides.pieces()),
      strides_(std::move(strides)) {}

Addresses::Addresses(std::int64_t first, Box box)
    : Addresses(first + (box.bytes() == 0 ? 0 : box.first()), rows_of(box)) {
    array_begin_ = first;
    box_ = std::move(box);
}

Addresses::Addresses(std::int64_t first, Listed list)
    : first_(first), piece_(list.piece), pieces_(list.pieces()), listed_(std::move(list)) {}

Addresses Addresses::in(Order order, std::uint64_t seed) const {
    Addresses other = *this;
    other.order_ = order;
    other.seed_ = seed;
    other.shuffle_.reset();
    if (order == Order::shuffled && pieces_ > 0) other.shuffle_.emplace(pieces_, seed);
    return other;
}

std::int64_t Addresses::scattered(std::int64_t call) const {
    if (order_ == Order::backward) return pieces_ - 1 - call;
    if (shuffle_) return (*shuffle_)(call);
    const std::uint64_t draw = mix64(seed_ ^ mix64(static_cast<std::uint64_t>(call)));
    return static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(pieces_));
}

bool Addresses::aligned_to(std::int64_t unit) const {
    if (pieces_ == 0) return true;
    if (first_ % unit != 0 || piece_ % unit != 0) return false;
    if (listed_) {
        return std::all_of(listed_->places->begin(), listed_->places->end(),
                           [unit](std::int64_t place) { return place % unit == 0; });
    }
    return std::all_of(strides_.levels.begin(), strides_.levels.end(), [unit](const Level& level) {
        return level.count == 1 || level.stride % unit == 0;
    });
}

View Addresses::view() const {
    if (box_) return {array_begin_, *box_};
    if (listed_) return {first_, *listed_};
    return {first_, strides_};
}

}  // namespace effio
