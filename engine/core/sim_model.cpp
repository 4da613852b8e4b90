// SPDX-License-Identifier: BSD-3-Clause
#include "core/sim_model.hpp"

namespace effio {

void SimModel::declare(OptionTable& table) {
    table.add("latency", latency, "of each transfer").range(0, 1e6);
    table.add("rank-rate", rank_rate, "storage rate of one rank; 0 = no limit").range(0, 1e18);
    table
        .add("shared-rate", shared_rate,
             "storage rate shared evenly by the active ranks; 0 = no limit")
        .range(0, 1e18);
    table.add("open", open, "cost of an open").range(0, 1e6);
    table.add("close", close, "cost of a close").range(0, 1e6);
    table.add("sync", sync, "cost of a sync beside the flush of the cache").range(0, 1e6);
    table.add("cache", cache, "write-back cache of a rank").range(0, 1e18);
    table.add("cache-rate", cache_rate, "rate of transfers the cache takes; 0 = no limit")
        .range(0, 1e18);
    table.add("metadata", metadata, "cost of a namespace operation").range(0, 1e6);
    table.flag("no-content", no_content, "keep no data; verification is then impossible");
    table.add("noise", noise, "deviation of the seconds of a transfer, a share of them")
        .range(0, 0.5);
    table.add("noise-correlation", noise_correlation, "of the noise of neighbouring transfers")
        .range(0, 0.99);
    table.add("noise-drift", noise_drift, "by which each transfer takes longer than the one before")
        .range(0, 1);
    table.add("noise-seed", noise_seed, "of the noise; rank i has this and i").range(0, 1e9);
    table.choice("noise-of", noise_of,
                 {{"all", NoiseOf::all}, {"writes", NoiseOf::writes}, {"reads", NoiseOf::reads}},
                 "which transfers have it");
    declare_messages(table);
}

double SimNoise::next(bool write) {
    using Of = SimModel::NoiseOf;
    if (!model_.is_noisy() || model_.noise_of == (write ? Of::reads : Of::writes)) return 1;
    constexpr double least = 0.1;
    const double factor = 1 + model_.noise * noise_.next() + model_.noise_drift * done_++;
    return std::max(factor, least);
}

void SimModel::declare_messages(OptionTable& table) {
    table.add("message-latency", message_latency, "of a message").range(0, 1e6);
    table.add("message-rate", message_rate, "rate of a message; 0 = no limit").range(0, 1e18);
    table
        .add("link-rate", link_rate,
             "rate of a link that all messages under way share; 0 = no limit")
        .range(0, 1e18);
    table.add("collective", collective, "cost of a barrier, broadcast or reduction").range(0, 1e6);
}

}  // namespace effio
