// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/fields.hpp"
#include "core/layout.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "frame/ring_patterns/ping_pong.hpp"
#include "parallel/pace.hpp"

namespace effio::b_eff {
namespace {

constexpr int measurements = 3;
constexpr std::int64_t latency_loops = 20;
constexpr std::int64_t bandwidth_loops = 2;
constexpr double slow = 0.5;
constexpr std::size_t most_listed = 20;

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

bool within(const PairsResult& result, const PairValue& pair) {
    return result.node_of_rank.at(static_cast<std::size_t>(pair.low)) ==
           result.node_of_rank.at(static_cast<std::size_t>(pair.high));
}

/// Bandwidth over the median of the pair's class.
double relative(const PairsResult& result, const PairValue& pair, const PairClass& inside,
                const PairClass& outside) {
    const double usual = (within(result, pair) ? inside : outside).bandwidth.mean;
    return usual > 0 ? pair.bandwidth / usual : 1;
}

/// Seconds of one message, the best of three.
double best_of(PingPong& ping, int partner, bool client, std::int64_t bytes, std::int64_t loops) {
    double best = std::numeric_limits<double>::infinity();
    for (int m = 0; m < measurements; ++m) {
        best = std::min(best, ping.round_trips(partner, client, bytes, loops));
    }
    return best / (2 * static_cast<double>(loops));
}

/// Their mean is the median here.
Fields<Spread> median_fields(Unit unit) {
    return {{"min", unit, "smallest of the pairs", &Spread::min},
            {"median", unit, "median of the pairs", &Spread::mean},
            {"max", unit, "largest of the pairs", &Spread::max}};
}

const Fields<PairClass>& class_fields() {
    static const Fields<PairClass> fields{
        {"pairs", Unit::count, "that were measured", &PairClass::pairs},
        {"latency_seconds", median_fields(Unit::seconds), "of a message of 1 B",
         &PairClass::latency},
        {"bytes_per_second", median_fields(Unit::bytes_per_second), "one direction at a time",
         &PairClass::bandwidth}};
    return fields;
}

const Fields<PairsResult>& pairs_place_fields() {
    static const Fields<PairsResult> fields{
        {"length_bytes", Unit::bytes, "of the messages for the bandwidth", &PairsResult::bytes}};
    return fields;
}

const Fields<PairsResult>& pairs_fields() {
    using P = PairsResult;
    static const Fields<SlowRank> slow_rank{
        {"rank", Unit::count, "number of the rank", &SlowRank::rank},
        {"relative_bandwidth", Unit::number, "its median over that of its class",
         &SlowRank::relative_bandwidth}};
    static const Fields<P> fields{
        {"meaning", Unit::word, "of the figure",
         [](const P&) { return "pairs below half of the median bandwidth of their class"; }},
        {"sampled", Unit::flag, "not all pairs were measured", &P::sampled},
        {"pairs_in_all", Unit::count, "of the ranks", &P::pairs_in_all},
        {"rounds", Unit::count, "in which each rank has at most one partner", &P::rounds},
        {"node_of_rank", Unit::count, "number of the node of each rank", &P::node_of_rank},
        {"within_nodes", class_fields(), "pairs within nodes",
         [](const P& r) { return pair_class(r, true); }},
        {"between_nodes", class_fields(), "pairs between nodes",
         [](const P& r) { return pair_class(r, false); }},
        {"slow_ranks", slow_rank, "below half of the usual bandwidth", slow_ranks},
        Field<P>("verification", message_count_fields(), "messages, with --verify all",
                 &P::verified)
            .only_if([](const P& r) { return r.verified.any(); }),
        Field<P>("pairs_low_high_latency_bandwidth", Unit::number,
                 "of each pair: both ranks, seconds, bytes per second",
                 [](const P& r) {
                     Json list = Json::array();
                     for (const PairValue& p : r.pairs) {
                         list.push_back(Json::array({p.low, p.high, p.latency, p.bandwidth}));
                     }
                     return list;
                 })
            .rows()};
    return fields;
}

}  // namespace

std::optional<int> Tournament::partner(int rank, int round) const {
    const int circle = places_ - 1;
    int other = circle;
    if (rank == circle) {
        other = round;
    } else if (rank != round) {
        other = ((2 * round - rank) % circle + circle) % circle;
    }
    if (other >= ranks_) return {};
    return other;
}

PairClass pair_class(const PairsResult& result, bool inside) {
    std::vector<double> latencies;
    std::vector<double> bandwidths;
    for (const PairValue& p : result.pairs) {
        if (within(result, p) != inside) continue;
        latencies.push_back(p.latency);
        bandwidths.push_back(p.bandwidth);
    }
    PairClass c;
    c.pairs = static_cast<std::int64_t>(latencies.size());
    if (c.pairs == 0) return c;
    const auto spread = [](const std::vector<double>& v) {
        return Spread{*std::min_element(v.begin(), v.end()), median(v),
                      *std::max_element(v.begin(), v.end())};
    };
    c.latency = spread(latencies);
    c.bandwidth = spread(bandwidths);
    return c;
}

std::vector<SlowRank> slow_ranks(const PairsResult& result) {
    const PairClass inside = pair_class(result, true);
    const PairClass outside = pair_class(result, false);
    std::vector<std::vector<double>> by_rank(result.node_of_rank.size());
    for (const PairValue& p : result.pairs) {
        const double value = relative(result, p, inside, outside);
        by_rank.at(static_cast<std::size_t>(p.low)).push_back(value);
        by_rank.at(static_cast<std::size_t>(p.high)).push_back(value);
    }
    std::vector<SlowRank> found;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
        const double usual = median(by_rank[rank]);
        if (!by_rank[rank].empty() && usual < slow) {
            found.push_back({static_cast<int>(rank), usual});
        }
    }
    return found;
}

std::vector<PairValue> slow_pairs(const PairsResult& result) {
    const PairClass inside = pair_class(result, true);
    const PairClass outside = pair_class(result, false);
    std::vector<PairValue> found;
    for (const PairValue& p : result.pairs) {
        if (relative(result, p, inside, outside) < slow) found.push_back(p);
    }
    std::sort(found.begin(), found.end(),
              [](const PairValue& a, const PairValue& b) { return a.bandwidth < b.bandwidth; });
    return found;
}

PairsResult measure_pairs(Job& job, const ExchangeMaker& exchanges, const Parameters& parameters,
                          std::uint32_t seed, Outcome& outcome) {
    Session& session = job.session;
    const Comm& comm = session.comm;
    PairsResult result;
    result.bytes = parameters.pairs_bytes.count;
    const std::int64_t ranks = comm.size();
    result.pairs_in_all = ranks * (ranks - 1) / 2;
    const Tournament tournament(comm.size());
    result.rounds = tournament.rounds();
    if (parameters.pairs == Pairs::sampled) {
        const std::int64_t wanted = parameters.pairs_limit / tournament.pairs_per_round();
        result.rounds = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, tournament.rounds()));
    }
    for (const double node : comm.gather(job.topology.node)) {
        result.node_of_rank.push_back(static_cast<int>(node));
    }
    Buffer send(static_cast<std::size_t>(result.bytes));
    Buffer receive(send.size());
    const auto exchange = exchanges(comm, LinkLoad{1, 1});
    PingPong ping(*exchange, session.clock, send.bytes(), receive.bytes());
    std::optional<KeptMessages> kept;
    if (parameters.network.verifies_all()) ping.verify_all(comm.rank(), kept.emplace(send.size()));
    const Permutation order(tournament.rounds(), seed);
    for (int i = 0; i < result.rounds; ++i) {
        if (!Checkpoint(comm, session.interrupted).go_on()) {
            result.interrupted = true;
            break;
        }
        Progress::Step step;
        step.title = fmt::format("pairs of ranks, round {} of {}", i + 1, result.rounds);
        step.ranks = comm.size();
        session.progress.begin(step);
        const int round = static_cast<int>(order(i));
        PairValue own;
        for (int rank = 0; rank < comm.size(); ++rank) {
            const auto partner = tournament.partner(rank, round);
            if (!partner || *partner < rank) continue;
            session.progress.call("MPI_Send, MPI_Recv");
            comm.barrier();
            const bool client = comm.rank() == rank;
            if (!client && comm.rank() != *partner) continue;
            const int other = client ? *partner : rank;
            own.latency = best_of(ping, other, client, 1, latency_loops);
            const double message = best_of(ping, other, client, result.bytes, bandwidth_loops);
            own.bandwidth = message > 0 ? static_cast<double>(result.bytes) / message : 0;
        }
        const auto latencies = comm.gather(own.latency);
        const auto bandwidths = comm.gather(own.bandwidth);
        for (int rank = 0; comm.is_root() && rank < comm.size(); ++rank) {
            const auto partner = tournament.partner(rank, round);
            if (!partner || *partner < rank) continue;
            const auto at = static_cast<std::size_t>(rank);
            result.pairs.push_back({rank, *partner, latencies[at], bandwidths[at]});
        }
    }
    result.errors = comm.sum(ping.errors());
    result.verified = {comm.sum(ping.verified().whole), comm.sum(ping.verified().overwritten)};
    if (ping.first_wrong()) {
        outcome.error_count += ping.errors() - 1;
        outcome.fail(session.signed_error(ping.first_wrong()->to_error()));
    }
    return result;
}

FigureInfo pairs_info() {
    return {"slow_pairs", Unit::count, "pairs of ranks that are slow", pairs_place_fields().infos(),
            pairs_fields().infos()};
}

void report_pairs(Session& session, const PairsResult& result) {
    const PairClass inside = pair_class(result, true);
    const PairClass outside = pair_class(result, false);
    const auto ranks = slow_ranks(result);
    const auto pairs = slow_pairs(result);
    Figure f;
    f.benchmark = "b-eff";
    f.name = "slow_pairs";
    f.where = pairs_place_fields().json(result);
    f.metric = {static_cast<double>(pairs.size()), "1", false, {}};
    if (result.errors > 0) f.metric = Metric::none("1", "messages arrived wrong", false);
    f.detail = pairs_fields().json(result);
    session.results.recorder().figure(f);

    Table table({{"pairs", Table::Align::left},
                 {"number"},
                 {"latency us: min"},
                 {"median"},
                 {"max"},
                 {"bandwidth MB/s: min"},
                 {"median"},
                 {"max"}});
    const auto row = [&table](const char* what, const PairClass& c) {
        if (c.pairs == 0) return;
        const auto us = [](double s) { return fmt::format("{:.3f}", s * 1e6); };
        const auto mb = [](double r) { return fmt::format("{:.1f}", r / MB_per_s); };
        table.row({what, std::to_string(c.pairs), us(c.latency.min), us(c.latency.mean),
                   us(c.latency.max), mb(c.bandwidth.min), mb(c.bandwidth.mean),
                   mb(c.bandwidth.max)});
    };
    row("within nodes", inside);
    row("between nodes", outside);
    std::string text =
        fmt::format("\nPairs of ranks, one at a time, messages of 1 B and {}: {} of {}{}\n{}",
                    shown_size(Bytes{result.bytes}), result.pairs.size(), result.pairs_in_all,
                    result.sampled() ? ", a sample in which each rank appears equally often" : "",
                    table.text(2));
    for (const SlowRank& r : ranks) {
        text += fmt::format("  SLOW RANK {}: {:.0f} % of the usual bandwidth\n", r.rank,
                            100 * r.relative_bandwidth);
    }
    for (std::size_t i = 0; i < std::min(pairs.size(), most_listed); ++i) {
        text += fmt::format("  slow pair {} - {}: {}, {}\n", pairs[i].low, pairs[i].high,
                            format_duration(pairs[i].latency), format_rate(pairs[i].bandwidth));
    }
    session.console.print(text + overwritten_line(result.verified));
}

}  // namespace effio::b_eff
