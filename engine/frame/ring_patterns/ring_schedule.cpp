// SPDX-License-Identifier: BSD-3-Clause
#include "frame/ring_patterns/ring_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace effio::rings {
namespace {

constexpr int least_pings = 5;
constexpr double most_pairs = 1e18;

bool is_prime(int n) {
    for (int d = 2; d <= n / d; ++d) {
        if (n % d == 0) return false;
    }
    return n > 1;
}

}  // namespace

double clamped_tick(double seconds) {
    return std::clamp(seconds, 1e-6, 0.01);
}

std::int64_t longer_loop(std::int64_t loops) {
    return loops == 1 ? 2 : loops * 3 / 2;
}

int pair_stride(int ranks, const Schedule& schedule, double seconds_per_trip, double tick) {
    const double measurements = schedule.pair_measurements;
    const double each =
        seconds_per_trip > 0
            ? 2 * seconds_per_trip * static_cast<double>(schedule.pair_loops + 1) * measurements
            : least_ticks * tick * measurements;
    const double fit = std::min(schedule.pair_seconds / each, most_pairs);
    const double pings = std::max<double>(least_pings, std::floor(std::sqrt(std::floor(fit))));
    const int stride = std::max(1, static_cast<int>(ranks / pings + 0.9));
    if (stride == 2) return 3;
    if (stride <= 3) return stride;
    int prime = stride;
    while (!is_prime(prime)) ++prime;
    return 3 * std::int64_t{prime} > ranks ? stride : prime;
}

Pair Pairs::operator[](std::int64_t number) const {
    return {static_cast<int>(number / per_side() * stride_),
            static_cast<int>(ranks_ - 1 - number % per_side() * stride_)};
}

}  // namespace effio::rings
