// SPDX-License-Identifier: BSD-3-Clause
// Rings for people, with the lines of hpccoutf.txt.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/rings/views.hpp"
#include "core/stats.hpp"
#include "core/table.hpp"
#include "core/units.hpp"

namespace effio::rings {
namespace {

double per_second(std::int64_t bytes, double seconds) {
    return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

std::string spread_text(const std::vector<RingResult>& rings, std::int64_t bytes, bool rates) {
    std::vector<double> values;
    for (const RingResult& r : rings) {
        values.push_back(rates ? per_second(bytes, r.seconds) / MB_per_s : r.seconds * 1e6);
    }
    const Samples s = samples_of(values);
    return fmt::format("{:.3f} ... {:.3f}", s.min(), s.max());
}

std::string tables(const LengthResult& latency, const LengthResult& bandwidth,
                   const std::vector<Figure>& means, std::int64_t rounds) {
    Table table({{"", Table::Align::left},
                 {"latency us (8 B)"},
                 {"bandwidth MB/s (2 MB)"},
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
        text = "Of the last round:\n" + text + "\nMeans of the rounds:\n";
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
    if (const auto wrong = latency.errors() + bandwidth.errors(); wrong > 0) {
        text += fmt::format("{} MESSAGES ARRIVED WRONG\n", wrong);
    }
    MessageCounts verified = latency.verified();
    verified += bandwidth.verified();
    text += overwritten_line(verified);
    return text;
}

}  // namespace

void print(Console& console, const LengthResult& latency, const LengthResult& bandwidth,
           const RoundFigures& rounds, const std::string& result_path) {
    if (rounds.rounds() == 0) {
        console.print("rings: no values, because the run was stopped before its end\n");
        return;
    }
    const std::vector<Figure> means = rounds.figures();
    console.print(tables(latency, bandwidth, means, rounds.rounds()));
    for (const Figure& f : means) {
        if (f.name != "balance" || !f.metric.reason.empty()) continue;
        const double rmax = f.detail["rmax_flops_per_second"].get<double>();
        console.print(fmt::format(
            "\nBalance: {} accumulated random-ring bandwidth / {:g} GFLOP/s = {:.4g} B/FLOP = "
            "{:.4g} B/kFLOP\n",
            format_rate(f.metric.value * rmax), rmax / 1e9, f.metric.value, 1000 * f.metric.value));
    }
    console.print(fmt::format("results: {}\n", result_path));
}

}  // namespace effio::rings
