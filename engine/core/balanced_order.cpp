// SPDX-License-Identifier: BSD-3-Clause
#include "core/balanced_order.hpp"

#include <algorithm>

namespace effio {

std::size_t balanced_rows(std::size_t n) {
    return n % 2 == 0 ? n : 2 * n;
}

std::vector<std::size_t> balanced_order(std::size_t n, std::size_t row) {
    std::vector<std::size_t> order;
    if (n == 0) return order;
    row %= balanced_rows(n);
    // 0, 1, n-1, 2, n-2, …: neighbors differ by 1, -2, 3, …, each once; shifted by half the row.
    for (std::size_t place = 0; place < n; ++place) {
        const std::size_t zigzag = place % 2 == 1 ? (place + 1) / 2 : (n - place / 2) % n;
        order.push_back((zigzag + row / 2) % n);
    }
    if (row % 2 == 1) std::reverse(order.begin(), order.end());
    return order;
}

}  // namespace effio
