// SPDX-License-Identifier: BSD-3-Clause
#include "core/clock.hpp"

#include <algorithm>

namespace effio {

double Clock::resolution() const {
    if (is_virtual()) return 0;
    double smallest = 1.0;
    for (int trial = 0; trial < 20; ++trial) {
        const double start = now();
        double next = now();
        while (next == start) next = now();
        smallest = std::min(smallest, next - start);
    }
    return smallest;
}

void Ticker::read() {
    const double before = now_;
    now_ = clock_.now();
    const double each = (now_ - before) / interval_;
    interval_ = clock_.is_virtual() || each * most_skipped > precision ? 1 : most_skipped;
    countdown_ = interval_;
}

}  // namespace effio
