// SPDX-License-Identifier: BSD-3-Clause
// What a run of the rings benchmark finds out, on every rank. Seconds and bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/named.hpp"
#include "core/record.hpp"
#include "frame/ring_patterns/kept_messages.hpp"
#include "frame/ring_patterns/ring_schedule.hpp"

namespace effio::rings {

/// One message between two ranks: half of a round trip; over all pairs.
struct PairResult {
    std::int64_t pairs = 0;
    int stride = 1;
    std::int64_t loops = 0;  ///< longest loop of a pair
    Spread seconds;          ///< min, mean and max over the pairs, each its shortest measurement
    Spread rate;             ///< bytes per second
    std::int64_t errors = 0;
    MessageCounts verified;  ///< of all ranks
};

/// One ring: each rank sends a message to both neighbors and gets one from each.
struct RingResult {
    int random_index = -1;  ///< of a random ring; -1 for natural order
    std::int64_t loops = 0;
    std::vector<double> measurements;  ///< seconds for a message of the slowest rank, each time
    double seconds = 0;                ///< the shortest of them
    double sendrecv_seconds = 0;       ///< of the slowest rank, shortest measurement, by way
    double nonblocking_seconds = 0;
    std::int64_t errors = 0;
    MessageCounts verified;   ///< of all ranks
    std::int64_t within = 0;  ///< messages of one loop between ranks of one node
    std::int64_t between = 0;
};

struct LengthResult {
    Schedule schedule;
    PairResult pairs;
    RingResult natural;
    std::vector<RingResult> random;

    /// Geometric mean over the random rings.
    double random_seconds() const;
    /// Per process: a ring's time is that of one message.
    double natural_rate() const { return rate_of(natural.seconds); }
    double random_rate() const { return rate_of(random_seconds()); }
    std::int64_t errors() const;
    MessageCounts verified() const;
    /// Bytes per second of one message in this many seconds.
    double rate_of(double seconds) const {
        return seconds > 0 ? static_cast<double>(schedule.bytes) / seconds : 0;
    }
};

/// The lines of hpccoutf.txt: name with unit and value, microseconds and 1e9 bytes per second.
std::vector<NamedNumber> hpcc_values(const LengthResult& latency, const LengthResult& bandwidth);

}  // namespace effio::rings
