// SPDX-License-Identifier: BSD-3-Clause
// Rings as lines of the result file.
#include <fmt/format.h>

#include "benchmarks/rings/views.hpp"
#include "core/stats.hpp"

namespace effio::rings {
namespace {

/// (largest - smallest) / mean of the measurements of one ring.
double spread_of(const RingResult& ring) {
    const Samples s = samples_of(ring.measurements);
    return s.count() > 0 && s.mean() > 0 ? (s.max() - s.min()) / s.mean() : 0;
}

Figure figure(const std::string& name, Metric metric) {
    Figure f;
    f.benchmark = "rings";
    f.name = name;
    f.metric = std::move(metric);
    return f;
}

/// "MaxPingPongLatency_usec" is a time, "…_GBytes" a rate; here in seconds and bytes per second.
Metric metric_of(const std::string& hpcc_name, double value) {
    if (hpcc_name.ends_with("_usec")) return Metric::time(value / 1e6);
    return Metric::rate(value * 1e9);
}

/// Wrong messages have no rate.
void invalidate(Measurement& m, std::int64_t wrong) {
    m.invalid_reason = fmt::format("{} wrong messages", wrong);
    m.rate = Metric::none("B/s", "INVALID: " + m.invalid_reason);
}

}  // namespace

std::string name_of(const std::string& hpcc_name) {
    return hpcc_name.substr(0, hpcc_name.rfind('_'));
}

void record(Recorder& recorder, const LengthResult& length, int ranks, int nodes,
            std::int64_t round) {
    const std::int64_t bytes = length.schedule.bytes;
    Measurement m;
    m.benchmark = "rings";
    m.scattered = true;
    m.access = "exchange";
    m.ranks = ranks;
    m.nodes = nodes;
    m.stopped_by = "count";
    m.repetition = round;
    m.where = Json{{"length_bytes", bytes}};
    if (length.pairs.pairs > 0) {
        const PairResult& p = length.pairs;
        m.pattern = "ping-pong";
        m.where["family"] = "ping-pong";
        m.operations = p.pairs * length.schedule.pair_measurements * p.loops * 2;
        m.bytes = m.operations * bytes;
        m.seconds = {{"total", p.seconds}};
        m.rate = Metric::rate(p.rate.mean);
        m.error_count = p.errors;
        m.valid = p.errors == 0;
        if (!m.valid) invalidate(m, p.errors);
        m.detail = Json{{"meaning", "seconds of one message, over the pairs"},
                        {"pairs", p.pairs},
                        {"stride", p.stride},
                        {"loops", p.loops},
                        {"bytes_per_second", p.rate.to_json()}};
        recorder.measurement(m);
    }
    const auto ring = [&](const RingResult& r) {
        m.pattern = r.random_index < 0 ? "natural ring" : "random ring";
        m.where = Json{{"length_bytes", bytes}, {"family", m.pattern}};
        if (r.random_index >= 0) m.where["random_index"] = r.random_index;
        m.operations = 2LL * ranks * r.loops * 2 * static_cast<std::int64_t>(r.measurements.size());
        m.bytes = m.operations * bytes;
        m.seconds = {{"total", {r.seconds, r.seconds, r.seconds}}};
        m.rate = Metric::rate(length.rate_of(r.seconds));
        m.error_count = r.errors;
        m.valid = r.errors == 0;
        m.invalid_reason.clear();
        if (!m.valid) invalidate(m, r.errors);
        m.detail = Json{{"meaning", "seconds of one message of the slowest rank; rate per process"},
                        {"loops", r.loops},
                        {"measurements_seconds", r.measurements},
                        {"measurements_spread_fraction", spread_of(r)},
                        {"sendrecv_seconds", r.sendrecv_seconds},
                        {"nonblocking_seconds", r.nonblocking_seconds},
                        {"messages_within_nodes", r.within},
                        {"messages_between_nodes", r.between}};
        recorder.measurement(m);
    };
    if (length.natural.seconds > 0) ring(length.natural);
    for (const RingResult& r : length.random) ring(r);
}

std::vector<Figure> figures_of(Length which, const LengthResult& length, int ranks,
                               std::optional<double> rmax_gflops) {
    std::vector<Figure> all;
    const std::string own = which == Length::latency ? "_usec" : "_GBytes";
    // Each value is made of one of the two lengths.
    for (const auto& [name, value] : hpcc_values(length, length)) {
        if (name.ends_with(own)) all.push_back(figure(name_of(name), metric_of(name, value)));
    }
    if (which == Length::bandwidth) {
        const double accumulated = ranks * length.random_rate();
        Figure sum = figure("random_ring_bandwidth", Metric::rate(accumulated));
        sum.detail = Json{{"per_process_bytes_per_second", length.random_rate()}};
        all.push_back(std::move(sum));
        if (rmax_gflops) {
            Figure f = figure("balance", {accumulated / (*rmax_gflops * 1e9), "B/FLOP", true, {}});
            f.detail = Json{{"rmax_flops_per_second", *rmax_gflops * 1e9},
                            {"accumulated_random_ring_bytes_per_second", accumulated}};
            all.push_back(std::move(f));
        }
    }
    const auto rings = static_cast<int>(length.random.size());
    if (rings < length.schedule.random_rings) {
        for (Figure& f : all) {
            if (!f.name.starts_with("Random") && !f.name.starts_with("random")) continue;
            f.reasons.push_back(fmt::format("{} of {} random rings: --ring-time was over", rings,
                                            length.schedule.random_rings));
        }
    }
    if (length.errors() > 0) {
        for (Figure& f : all) {
            f.metric =
                Metric::none(f.metric.unit, "messages arrived wrong", f.metric.higher_is_better);
        }
    }
    return all;
}

std::vector<std::string> deciding(Length which) {
    const std::string what = which == Length::latency ? "Latency" : "Bandwidth";
    return {"AvgPingPong" + what, "NaturallyOrderedRing" + what, "RandomlyOrderedRing" + what};
}

void record(Recorder& recorder, const RoundFigures& rounds) {
    if (rounds.rounds() == 0) {
        recorder.figure(figure("random_ring_bandwidth",
                               Metric::none("B/s", "the run was stopped before its end")));
        return;
    }
    for (const Figure& f : rounds.figures()) recorder.figure(f);
}

}  // namespace effio::rings
