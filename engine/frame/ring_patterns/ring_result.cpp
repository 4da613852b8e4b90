// SPDX-License-Identifier: BSD-3-Clause
#include "frame/ring_patterns/ring_result.hpp"

#include "core/stats.hpp"

namespace effio::rings {

double LengthResult::random_seconds() const {
    std::vector<double> seconds;
    for (const RingResult& ring : random) seconds.push_back(ring.seconds);
    const double mean = geometric_mean(seconds);
    return mean > 0 ? mean : 0;
}

std::int64_t LengthResult::errors() const {
    std::int64_t sum = pairs.errors + natural.errors;
    for (const RingResult& ring : random) sum += ring.errors;
    return sum;
}

MessageCounts LengthResult::verified() const {
    MessageCounts sum = pairs.verified;
    sum += natural.verified;
    for (const RingResult& ring : random) sum += ring.verified;
    return sum;
}

std::vector<NamedNumber> hpcc_values(const LengthResult& latency, const LengthResult& bandwidth) {
    constexpr double usec = 1e6;
    constexpr double giga = 1e-9;
    return {
        {"MaxPingPongLatency_usec", latency.pairs.seconds.max * usec},
        {"RandomlyOrderedRingLatency_usec", latency.random_seconds() * usec},
        {"MinPingPongBandwidth_GBytes", bandwidth.pairs.rate.min * giga},
        {"NaturallyOrderedRingBandwidth_GBytes", bandwidth.natural_rate() * giga},
        {"RandomlyOrderedRingBandwidth_GBytes", bandwidth.random_rate() * giga},
        {"MinPingPongLatency_usec", latency.pairs.seconds.min * usec},
        {"AvgPingPongLatency_usec", latency.pairs.seconds.mean * usec},
        {"MaxPingPongBandwidth_GBytes", bandwidth.pairs.rate.max * giga},
        {"AvgPingPongBandwidth_GBytes", bandwidth.pairs.rate.mean * giga},
        {"NaturallyOrderedRingLatency_usec", latency.natural.seconds * usec},
    };
}

}  // namespace effio::rings
