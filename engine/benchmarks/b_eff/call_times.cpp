// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/call_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks/b_eff/pattern_rank.hpp"
#include "core/fields.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "parallel/over_ranks.hpp"
#include "parallel/pace.hpp"

namespace effio::b_eff {
namespace {

constexpr std::int64_t most_loops = 100;
constexpr std::array<const char*, 2> classes{"within nodes", "between nodes"};

/// Where a histogram belongs.
struct CallPlace {
    const Setup& setup;
    int length = 0;
    std::size_t kind = 0;
};

const Fields<CallPlace>& call_place_fields() {
    using P = CallPlace;
    static const Fields<P> fields{
        {"length", Unit::count, "number of the length, from 0", &P::length},
        {"length_bytes", Unit::bytes, "of a message",
         [](const P& p) { return p.setup.lengths[p.length]; }},
        {"steps", Unit::word, "within or between nodes",
         [](const P& p) { return classes.at(p.kind); }},
        {"method", Unit::word, "of the calls",
         [](const P&) { return option_name(Method::sendrecv); }}};
    return fields;
}

const Fields<CallPlace>& call_fields() {
    static const Fields<CallPlace> fields{
        {"meaning", Unit::word, "of the times",
         [](const CallPlace&) { return "of one call on one rank, waiting included"; }}};
    return fields;
}

Measurement to_measurement(const Setup& setup, int length, std::size_t kind,
                           const Histogram& times) {
    const std::int64_t bytes = setup.lengths[length];
    Measurement m;
    m.benchmark = "b-eff";
    m.scattered = true;
    m.pattern = "rings and random rings";
    m.access = "call times";
    const CallPlace place{setup, length, kind};
    m.where = call_place_fields().json(place);
    m.ranks = setup.ranks;
    m.nodes = setup.nodes;
    m.operations = static_cast<std::int64_t>(times.count());
    m.bytes = m.operations * bytes;
    m.seconds = {{"total", {times.min_seconds(), times.mean_seconds(), times.max_seconds()}}};
    m.rate = times.mean_seconds() > 0
                 ? Metric::rate(static_cast<double>(bytes) / times.mean_seconds())
                 : Metric::none("B/s", "no time passed on the clock");
    m.stopped_by = "count";
    m.call_times = times;
    m.detail = call_fields().json(place);
    return m;
}

/// One pattern at one length: each call goes into the histogram of its partners' nodes.
void time_pattern(const Clock& clock, PatternRank& rank, std::span<const SureNumber> nodes,
                  int node, int length, const Setup& setup, std::int64_t loops, Messages& messages,
                  std::array<Histogram, 2>& times) {
    FixedCount count(loops);
    do {
        const auto steps = messages.next(rank.partners(), length, setup.lengths[length]);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            double seconds = 0;
            {
                const Lap lap(clock, seconds);
                rank.exchange().run(Method::sendrecv, steps.subspan(i, 1));
            }
            times.at(nodes[i].value() == node ? 0 : 1).add(seconds);
        }
    } while (count.go_on());
}

}  // namespace

bool time_calls(Job& job, const Comm& line, const ExchangeMaker& exchanges, const RunResult& run,
                Messages& messages) {
    Session& session = job.session;
    const Setup& setup = run.setup;
    constexpr std::array methods{Method::sendrecv};
    Table table({{"length B"},
                 {"steps", Table::Align::left},
                 {"calls"},
                 {"median us"},
                 {"99 % us"},
                 {"longest us"}});
    for (int length = 0; length < length_count; ++length) {
        if (!Checkpoint(session.comm, session.interrupted).go_on()) return false;
        Progress::Step step;
        step.title = fmt::format("time the calls with messages of {}",
                                 format_size(static_cast<double>(setup.lengths[length])));
        step.ranks = setup.ranks;
        session.progress.begin(step);
        std::array<Histogram, 2> times;
        for (std::size_t i = 0; i < setup.patterns.size(); ++i) {
            if (!setup.patterns[i].counts()) continue;
            PatternRank rank(session.comm, line, setup.patterns[i], setup.seed, exchanges, methods);
            const auto nodes = rank.partner_nodes(job.topology.node);
            const std::int64_t measured = run.experiment(0, length, i, 0).loops;
            const std::int64_t loops = std::clamp<std::int64_t>(measured, 1, most_loops);
            session.progress.call(call_name(Method::sendrecv));
            session.comm.barrier();
            time_pattern(session.clock, rank, nodes, job.topology.node, length, setup, loops,
                         messages, times);
        }
        for (std::size_t kind = 0; kind < classes.size(); ++kind) {
            const Histogram all = merged_over(session.comm, times.at(kind));
            if (all.count() == 0) continue;
            session.results.recorder().measurement(to_measurement(setup, length, kind, all));
            const auto us = [&](double q) {
                return fmt::format("{:.3f}", 1e6 * all.quantile_seconds(q));
            };
            table.row({std::to_string(setup.lengths[length]), classes.at(kind),
                       std::to_string(all.count()), us(0.5), us(0.99),
                       fmt::format("{:.3f}", 1e6 * all.max_seconds())});
        }
    }
    session.console.print("\nSingle calls of MPI_Sendrecv, in a separate pass:\n" + table.text(2));
    return true;
}

ResultInfo call_times_info() {
    return {call_place_fields().infos(), call_fields().infos()};
}

}  // namespace effio::b_eff
