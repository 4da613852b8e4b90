// SPDX-License-Identifier: BSD-3-Clause
// The machine that `sim` models: closed formulas for what an operation costs in virtual
// seconds. Derived manually in the tests that use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/json.hpp"
#include "core/noise_terms.hpp"
#include "core/options.hpp"
#include "core/units.hpp"

namespace effio {

struct SimModel {
    // Storage. A rate of 0 means without limit.
    Seconds latency{0};               ///< of each transfer
    BytesPerSecond rank_rate{100e6};  ///< of one rank
    BytesPerSecond shared_rate{0};    ///< of the storage, divided evenly among the active ranks
    Seconds open{0};                  ///< open or create
    Seconds close{0};
    Seconds sync{0};               ///< next to what waits in the cache
    Bytes cache{0};                ///< write-back cache of a rank
    BytesPerSecond cache_rate{0};  ///< of transfers that the cache takes
    Seconds metadata{0};           ///< each namespace operation
    bool no_content = false;       ///< keep no data: larger runs, but nothing to verify
    // Noise of a rank's transfers, operations on names, and messages (core/noise_terms.hpp).
    enum class NoiseOf { all, writes, reads, messages };
    NoiseTerms noise;
    double noise_correlation = 0;  ///< of consecutive operations, for Gaussian terms
    double noise_drift = 0;        ///< by transfer
    std::int64_t noise_seed = 1;
    NoiseOf noise_of = NoiseOf::all;
    // Messages.
    Seconds message_latency{0};      ///< alpha
    BytesPerSecond message_rate{0};  ///< 1/beta of one message
    BytesPerSecond link_rate{0};     ///< of a link that all messages under way share
    Seconds collective{0};           ///< barrier, broadcast, reduction

    /// The settings as options, for `--backend-options key=value,...`: of storage and messages, or
    /// of messages alone for benchmarks that know no storage.
    void declare(OptionTable& table);
    void declare_messages(OptionTable& table);
    void declare_noise(OptionTable& table);
    void declare_network(OptionTable& table);

    static double time_at(BytesPerSecond rate, std::int64_t bytes) {
        return rate.count > 0 ? static_cast<double>(bytes) / rate.count : 0.0;
    }
    bool is_noisy() const { return noise.any() || noise_drift > 0; }
    /// Seconds for `bytes` through the storage with `active` ranks at work.
    double storage_seconds(std::int64_t bytes, int active) const {
        const BytesPerSecond share{shared_rate.count / std::max(active, 1)};
        return std::max(time_at(rank_rate, bytes), time_at(share, bytes));
    }
    /// Seconds from the start of sending `bytes` to their arrival while `under_way` messages share
    /// the link.
    double message_seconds(std::int64_t bytes, std::int64_t under_way) const {
        const double messages = static_cast<double>(std::max<std::int64_t>(under_way, 1));
        return message_latency.count +
               std::max(time_at(message_rate, bytes),
                        time_at(BytesPerSecond{link_rate.count / messages}, bytes));
    }
};

/// The noise of one rank's operations, one after another.
class SimNoise {
  public:
    SimNoise(const SimModel& model, int rank);
    /// Factor by which the seconds of the next transfer are multiplied.
    double next(bool write) {
        return next(write ? SimModel::NoiseOf::writes : SimModel::NoiseOf::reads);
    }
    double next_message() { return next(SimModel::NoiseOf::messages); }

  private:
    double next(SimModel::NoiseOf what) {
        if (!noisy_ || (of_ != SimModel::NoiseOf::all && of_ != what)) return 1;
        return factors_.next();
    }
    bool noisy_;
    SimModel::NoiseOf of_;
    NoiseFactors factors_;
};

}  // namespace effio
