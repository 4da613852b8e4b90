// SPDX-License-Identifier: BSD-3-Clause
// What the ring and ping-pong part of the HPC Challenge measures (docs/definitions/rings.md),
// without MPI.
#pragma once

#include <cstdint>
#include <vector>

namespace effio::rings {

inline constexpr std::int64_t latency_bytes = 8;
inline constexpr std::int64_t bandwidth_bytes = 2'000'000;

/// How often things are done for one message length.
struct Schedule {
    std::int64_t bytes = latency_bytes;
    std::int64_t pair_loops = 8;  ///< round trips timed together
    int pair_measurements = 5;    ///< the shortest counts
    double pair_seconds = 10;     ///< what all pairs together should take at most
    std::int64_t ring_loops = 5;
    int ring_measurements = 8;  ///< the shortest counts
    int random_rings = 30;
    double ring_seconds = 0;  ///< no random ring starts after this time of theirs; 0: no limit
};
inline constexpr Schedule latency_schedule{latency_bytes, 8, 5, 10, 5, 8, 30};
inline constexpr Schedule bandwidth_schedule{bandwidth_bytes, 1, 2, 30, 2, 3, 10};

/// The tick of the clock as it is reckoned with: within 1 us and 10 ms.
double clamped_tick(double seconds);
/// A loop that took less than this many ticks is too short to be believed.
inline constexpr double least_ticks = 10;
/// The next longer loop: 1.5 times, from 1 on 2.
std::int64_t longer_loop(std::int64_t loops);

/// Every `pair_stride`-th rank is a client, and as many, counted from the last rank down, are
/// servers, so that all pairs together fit into the time. `seconds_per_trip` is that of one message
/// between the first and the last rank; 0 if it was too short to be seen with `tick`.
int pair_stride(int ranks, const Schedule& schedule, double seconds_per_trip, double tick);

/// Clients 0, stride, 2 stride, …; servers P-1, P-1-stride, …: each client with each server.
struct Pair {
    int client = 0;
    int server = 0;
};
class Pairs {
  public:
    Pairs(int ranks, int stride) : ranks_(ranks), stride_(stride) {}
    /// Combinations, the impossible ones (client = server) included.
    std::int64_t combinations() const { return per_side() * per_side(); }
    Pair operator[](std::int64_t number) const;

  private:
    std::int64_t per_side() const { return (ranks_ + stride_ - 1) / stride_; }
    std::int64_t ranks_;
    std::int64_t stride_;
};

}  // namespace effio::rings
