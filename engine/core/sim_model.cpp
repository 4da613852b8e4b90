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
    table.add("sync", sync, "cost of a sync in addition to the flush of the cache").range(0, 1e6);
    table.add("cache", cache, "write-back cache of a rank").range(0, 1e18);
    table.add("cache-rate", cache_rate, "rate of transfers the cache takes; 0 = no limit")
        .range(0, 1e18);
    table.add("metadata", metadata, "cost of a namespace operation").range(0, 1e6);
    table.flag("no-content", no_content, "keep no data; verification is then impossible");
    declare_noise(table);
    table.choice("noise-of", noise_of,
                 {{"all", NoiseOf::all},
                  {"writes", NoiseOf::writes},
                  {"reads", NoiseOf::reads},
                  {"messages", NoiseOf::messages}},
                 "operations that have noise");
    declare_network(table);
}

namespace {

/// The terms of `noise`, with those of the older settings noise-correlation and noise-drift.
NoiseTerms all_terms(const SimModel& model) {
    NoiseTerms all = model.noise;
    if (model.noise_correlation > 0) {
        for (NoiseTerm& term : all.terms) {
            if (term.kind != NoiseTerm::Kind::gauss) continue;
            term.kind = NoiseTerm::Kind::correlated;
            term.second = model.noise_correlation;
        }
    }
    if (model.noise_drift > 0) {
        all.terms.push_back({NoiseTerm::Kind::drift, model.noise_drift, 0});
    }
    return all;
}

}  // namespace

SimNoise::SimNoise(const SimModel& model, int rank)
    : noisy_(model.is_noisy()),
      of_(model.noise_of),
      factors_(all_terms(model), static_cast<std::uint64_t>(model.noise_seed), rank) {}

void SimModel::declare_noise(OptionTable& table) {
    table.parsed(
        "noise", noise, NoiseTerms::parse, [](const NoiseTerms& terms) { return terms.text; },
        "TERM+TERM",
        "noise of the duration of an operation: 0.05 (Gaussian with this deviation), "
        "ar:DEVIATION:RHO, bimodal:SHARE:FACTOR, rare:SHARE:FACTOR, regime:OPERATIONS:FACTOR, "
        "sine:OPERATIONS:DEVIATION, drift:SHARE, night:DEVIATION; join several with +");
    table
        .add("noise-correlation", noise_correlation,
             "correlation of Gaussian noise between consecutive operations")
        .range(0, 0.99);
    table
        .add("noise-drift", noise_drift,
             "share by which each operation takes longer than the one before")
        .range(0, 1);
    table.add("noise-seed", noise_seed, "of the noise; rank i has this and i").range(0, 1e9);
}

void SimModel::declare_messages(OptionTable& table) {
    declare_network(table);
    declare_noise(table);
}

void SimModel::declare_network(OptionTable& table) {
    table.add("message-latency", message_latency, "of a message").range(0, 1e6);
    table.add("message-rate", message_rate, "rate of a message; 0 = no limit").range(0, 1e18);
    table
        .add("link-rate", link_rate,
             "rate of a link that all messages under way share; 0 = no limit")
        .range(0, 1e18);
    table.add("collective", collective, "cost of a barrier, broadcast or reduction").range(0, 1e6);
}

}  // namespace effio
