// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/rings/views.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/stats.hpp"
#include "core/table.hpp"
#include "core/units.hpp"

namespace effio::rings {
namespace {

double per_second(std::int64_t bytes, double seconds) {
    return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

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

/// A figure's name does not say a unit that its value has not.
std::string name_of(const std::string& hpcc_name) {
    return hpcc_name.substr(0, hpcc_name.rfind('_'));
}

std::string spread_text(const std::vector<RingResult>& rings, std::int64_t bytes, bool rates) {
    std::vector<double> values;
    for (const RingResult& r : rings) {
        values.push_back(rates ? per_second(bytes, r.seconds) / MB_per_s : r.seconds * 1e6);
    }
    const Samples s = samples_of(values);
    return fmt::format("{:.3f} ... {:.3f}", s.min(), s.max());
}

}  // namespace

void View::record(const LengthResult& length, std::int64_t round) {
    const std::int64_t bytes = length.schedule.bytes;
    Recorder& recorder = session_.results.recorder();
    const int ranks = session_.comm.size();
    Measurement m;
    m.benchmark = "rings";
    m.access = "exchange";
    m.ranks = ranks;
    m.nodes = topology_.nodes;
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
        if (!m.valid) m.invalid_reason = fmt::format("{} wrong messages", p.errors);
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
        m.rate = Metric::rate(per_second(bytes, r.seconds));
        m.error_count = r.errors;
        m.valid = r.errors == 0;
        m.invalid_reason = m.valid ? "" : fmt::format("{} wrong messages", r.errors);
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

void View::finish(const LengthResult& latency, const LengthResult& bandwidth,
                  const RoundFigures& rounds) {
    Recorder& recorder = session_.results.recorder();
    if (rounds.rounds() == 0) {
        recorder.figure(figure("random_ring_bandwidth",
                               Metric::none("B/s", "the run was stopped before its end")));
        session_.console.print("rings: no values, because the run was stopped before its end\n");
        return;
    }
    const std::vector<Figure> means = rounds.figures();
    for (const Figure& f : means) recorder.figure(f);
    print(latency, bandwidth, means, rounds.rounds());
    for (const Figure& f : means) {
        if (f.name != "balance" || !f.metric.reason.empty()) continue;
        const double rmax = f.detail["rmax_flops_per_second"].get<double>();
        session_.console.print(fmt::format(
            "\nBalance: {} accumulated random-ring bandwidth / {:g} GFLOP/s = {:.4g} B/FLOP = "
            "{:.4g} B/kFLOP\n",
            format_rate(f.metric.value * rmax), rmax / 1e9, f.metric.value, 1000 * f.metric.value));
    }
    session_.console.print(fmt::format("results: {}\n", session_.results.path()));
}

void View::print(const LengthResult& latency, const LengthResult& bandwidth,
                 const std::vector<Figure>& means, std::int64_t rounds) {
    Table table({{"", Table::Align::left},
                 {"latency us (8 B)"},
                 {"bandwidth MB/s (2,000,000 B)"},
                 {"spread of", Table::Align::left},
                 {"latency us"},
                 {"bandwidth MB/s"}});
    const auto us = [](double seconds) { return fmt::format("{:.3f}", seconds * 1e6); };
    const auto mb = [](double rate) { return fmt::format("{:.3f}", rate / MB_per_s); };
    const PairResult& p = latency.pairs;
    const PairResult& q = bandwidth.pairs;
    table.row({"ping-pong, mean", us(p.seconds.mean), mb(q.rate.mean),
               fmt::format("{} pairs (8 B), {} (2 MB)", p.pairs, q.pairs),
               fmt::format("{} ... {}", us(p.seconds.min), us(p.seconds.max)),
               fmt::format("{} ... {}", mb(q.rate.min), mb(q.rate.max))});
    const auto natural = [](const RingResult& r, std::int64_t bytes, bool rates) {
        const Samples s = samples_of(r.measurements);
        if (rates) {
            return fmt::format("{:.3f} ... {:.3f}", per_second(bytes, s.max()) / MB_per_s,
                               per_second(bytes, s.min()) / MB_per_s);
        }
        return fmt::format("{:.3f} ... {:.3f}", s.min() * 1e6, s.max() * 1e6);
    };
    table.row({"natural ring, per process", us(latency.natural.seconds),
               mb(bandwidth.natural_rate()), "its measurements",
               natural(latency.natural, latency_bytes, false),
               natural(bandwidth.natural, bandwidth_bytes, true)});
    table.row(
        {"random rings, per process", us(latency.random_seconds()), mb(bandwidth.random_rate()),
         fmt::format("{} rings (8 B), {} (2 MB)", latency.random.size(), bandwidth.random.size()),
         spread_text(latency.random, latency_bytes, false),
         spread_text(bandwidth.random, bandwidth_bytes, true)});
    std::string text = table.text(2);
    if (rounds > 1) {
        text = "Of the last round:\n" + text + "\nMeans of the rounds, with 95 % intervals:\n";
        Table intervals({{"", Table::Align::left}, {"mean"}, {"", Table::Align::left}});
        for (const Figure& f : means) {
            if (!f.metric.reason.empty() || f.name == "balance") continue;
            intervals.row(
                {f.name,
                 f.metric.unit == "s" ? us(f.metric.value) + " us" : mb(f.metric.value) + " MB/s",
                 interval_text(f)});
        }
        text += intervals.text(2);
    }
    text += "\nAs in hpccoutf.txt:\n";
    for (const auto& [name, last] : hpcc_values(latency, bandwidth)) {
        double value = last;
        const auto of_rounds = std::find_if(means.begin(), means.end(), [&](const Figure& f) {
            return f.name == name_of(name) && f.metric.reason.empty();
        });
        if (rounds > 1 && of_rounds != means.end()) {
            value = of_rounds->metric.value * (name.ends_with("_usec") ? 1e6 : 1e-9);
        }
        text += fmt::format("{}={:g}\n", name, value);
    }
    session_.console.print(text);
    if (const auto wrong = latency.errors() + bandwidth.errors(); wrong > 0) {
        session_.console.print(fmt::format("{} MESSAGES ARRIVED WRONG\n", wrong));
    }
}

}  // namespace effio::rings
