// SPDX-License-Identifier: BSD-3-Clause
// Rings as lines of the result file.
#include <fmt/format.h>

#include "benchmarks/rings/views.hpp"
#include "core/fields.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"
#include "frame/until_ci.hpp"

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

/// What one measurement is made from.
struct OfPairs {
    const LengthResult& length;
    const PairResult& pairs;
};
struct OfRing {
    const LengthResult& length;
    const RingResult& ring;

    const char* pattern() const { return ring.random_index < 0 ? "natural ring" : "random ring"; }
};

const Fields<OfPairs>& pair_place_fields() {
    using P = OfPairs;
    static const Fields<P> fields{{"length_bytes", Unit::bytes, "of a message",
                                   [](const P& p) { return p.length.schedule.bytes; }},
                                  {"family", Unit::word, "ping-pong, natural ring or random ring",
                                   [](const P&) { return "ping-pong"; }}};
    return fields;
}

const Fields<OfRing>& ring_place_fields() {
    using R = OfRing;
    static const Fields<R> fields{
        {"length_bytes", Unit::bytes, "of a message",
         [](const R& r) { return r.length.schedule.bytes; }},
        {"family", Unit::word, "ping-pong, natural ring or random ring", &R::pattern},
        Field<R>("random_index", Unit::count, "of a random ring, from 0", [](const R& r) {
            return r.ring.random_index;
        }).only_if([](const R& r) { return r.ring.random_index >= 0; })};
    return fields;
}

const Fields<OfPairs>& pair_fields() {
    using P = OfPairs;
    static const Fields<P> fields{
        {"meaning", Unit::word, "of the times and rates",
         [](const P&) { return "seconds of one message, over the pairs"; }},
        {"pairs", Unit::count, "that were measured", [](const P& p) { return p.pairs.pairs; }},
        {"stride", Unit::count, "between the ranks that are measured",
         [](const P& p) { return p.pairs.stride; }},
        {"loops", Unit::count, "of the pair with the longest loop",
         [](const P& p) { return p.pairs.loops; }},
        {"bytes_per_second", spread_fields(Unit::bytes_per_second), "over the pairs",
         [](const P& p) { return p.pairs.rate; }},
        Field<P>("verification", message_count_fields(), "messages, with --verify all",
                 [](const P& p) { return p.pairs.verified; })
            .only_if([](const P& p) { return p.pairs.verified.any(); })};
    return fields;
}

const Fields<OfRing>& ring_fields() {
    using R = OfRing;
    static const Fields<R> fields{
        {"meaning", Unit::word, "of the times and rates",
         [](const R&) { return "seconds of one message of the slowest rank; rate per process"; }},
        {"loops", Unit::count, "timed together", [](const R& r) { return r.ring.loops; }},
        {"measurements_seconds", Unit::seconds, "of one message; the shortest counts",
         [](const R& r) { return r.ring.measurements; }},
        {"measurements_spread_fraction", Unit::number, "(longest - shortest) / mean of them",
         [](const R& r) { return spread_of(r.ring); }},
        {"sendrecv_seconds", Unit::seconds, "of one message with MPI_Sendrecv",
         [](const R& r) { return r.ring.sendrecv_seconds; }},
        {"nonblocking_seconds", Unit::seconds, "of one message with nonblocking calls",
         [](const R& r) { return r.ring.nonblocking_seconds; }},
        {"messages_within_nodes", Unit::count, "of a loop, between ranks of one node",
         [](const R& r) { return r.ring.within; }},
        {"messages_between_nodes", Unit::count, "of a loop, between nodes",
         [](const R& r) { return r.ring.between; }},
        Field<R>("verification", message_count_fields(), "messages, with --verify all",
                 [](const R& r) { return r.ring.verified; })
            .only_if([](const R& r) { return r.ring.verified.any(); })};
    return fields;
}

/// What the accumulated bandwidth and the balance are made from.
struct Accumulated {
    double per_process = 0;
    double all = 0;
    double rmax = 0;  ///< FLOP/s
};

const Fields<Accumulated>& accumulated_fields() {
    static const Fields<Accumulated> fields{{"per_process_bytes_per_second", Unit::bytes_per_second,
                                             "in random rings", &Accumulated::per_process}};
    return fields;
}

const Fields<Accumulated>& balance_fields() {
    using A = Accumulated;
    static const Fields<A> fields{
        {"rmax_flops_per_second", Unit::operations_per_second, "of HPL, as given", &A::rmax},
        {"accumulated_random_ring_bytes_per_second", Unit::bytes_per_second, "of all processes",
         &A::all}};
    return fields;
}

/// Wrong messages have no rate.
void invalidate(Measurement& m, std::int64_t wrong) {
    m.invalid_reason = count_of(wrong, "wrong message");
    m.rate = Metric::none("B/s", "INVALID: " + m.invalid_reason);
}

Facts facts_of(std::int64_t seed) {
    return {{"seed", Unit::count, "of the random rings", seed}};
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
    if (length.pairs.pairs > 0) {
        const PairResult& p = length.pairs;
        m.pattern = "ping-pong";
        m.where = pair_place_fields().json({length, p});
        m.operations = p.pairs * length.schedule.pair_measurements * p.loops * 2;
        m.bytes = m.operations * bytes;
        m.seconds = {{"total", p.seconds}};
        m.rate = Metric::rate(p.rate.mean);
        m.error_count = p.errors;
        m.verified_bytes = p.verified.whole * bytes;
        m.valid = p.errors == 0;
        if (!m.valid) invalidate(m, p.errors);
        m.detail = pair_fields().json({length, p});
        recorder.measurement(m);
    }
    const auto ring = [&](const RingResult& r) {
        const OfRing of{length, r};
        m.pattern = of.pattern();
        m.where = ring_place_fields().json(of);
        m.operations = 2LL * ranks * r.loops * 2 * static_cast<std::int64_t>(r.measurements.size());
        m.bytes = m.operations * bytes;
        m.seconds = {{"total", {r.seconds, r.seconds, r.seconds}}};
        m.rate = Metric::rate(length.rate_of(r.seconds));
        m.error_count = r.errors;
        m.verified_bytes = r.verified.whole * bytes;
        m.valid = r.errors == 0;
        m.invalid_reason.clear();
        if (!m.valid) invalidate(m, r.errors);
        m.detail = ring_fields().json(of);
        recorder.measurement(m);
    };
    if (length.natural.seconds > 0) ring(length.natural);
    for (const RingResult& r : length.random) ring(r);
}

std::vector<Figure> figures_of(Length which, const LengthResult& length, int ranks,
                               std::optional<double> rmax_gflops) {
    std::vector<Figure> all;
    const std::string ending = which == Length::latency ? "_usec" : "_GBytes";
    // Each value is made of one of the two lengths.
    for (const auto& [name, value] : hpcc_values(length, length)) {
        if (name.ends_with(ending)) all.push_back(figure(name_of(name), metric_of(name, value)));
    }
    if (which == Length::bandwidth) {
        const double own = length.random_rate();
        const Accumulated sum{own, ranks * own, 1e9 * rmax_gflops.value_or(0)};
        Figure f = figure("random_ring_bandwidth", Metric::rate(sum.all));
        f.detail = accumulated_fields().json(sum);
        all.push_back(std::move(f));
        if (rmax_gflops) {
            f = figure("balance", {sum.all / sum.rmax, "B/FLOP", true, {}});
            f.detail = balance_fields().json(sum);
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

Json describe(std::int64_t seed) {
    return to_json(facts_of(seed));
}

ResultInfo result_info() {
    FieldInfos where = ring_place_fields().infos();
    ResultInfo info{std::move(where),
                    merged(pair_fields().infos(), ring_fields().infos()),
                    {},
                    {object_of("rings", "settings of the run", infos_of(facts_of({})))}};
    for (const auto& [name, value] : hpcc_values({}, {})) {
        info.figures.push_back({name_of(name),
                                name.ends_with("_usec") ? Unit::seconds : Unit::bytes_per_second,
                                "as in hpccoutf.txt",
                                {},
                                {interval_field()}});
    }
    const auto with_interval = [](FieldInfos fields) {
        fields.push_back(interval_field());
        return if_known(std::move(fields));  // without a complete round
    };
    info.figures.push_back({"random_ring_bandwidth",
                            Unit::bytes_per_second,
                            "of all processes",
                            {},
                            with_interval(accumulated_fields().infos())});
    info.figures.push_back({"balance",
                            Unit::bytes_per_operation,
                            "accumulated random-ring bandwidth over what HPL reached",
                            {},
                            with_interval(balance_fields().infos())});
    info.figures.push_back(until_ci_info());
    return info;
}

}  // namespace effio::rings
