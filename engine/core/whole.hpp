// SPDX-License-Identifier: BSD-3-Clause
// Sums and products of whole numbers that come from a command line, and therefore may be anything:
// nothing where the result leaves 64 bits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace effio {

constexpr std::optional<std::int64_t> sum_of(std::initializer_list<std::int64_t> terms) {
    std::int64_t sum = 0;
    for (const auto term : terms) {
        if (__builtin_add_overflow(sum, term, &sum)) return {};
    }
    return sum;
}

constexpr std::optional<std::int64_t> product_of(std::initializer_list<std::int64_t> factors) {
    std::int64_t product = 1;
    for (const auto factor : factors) {
        if (__builtin_mul_overflow(product, factor, &product)) return {};
    }
    return product;
}

}  // namespace effio
