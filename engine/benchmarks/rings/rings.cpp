// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/rings/rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <vector>

#include "benchmarks/rings/parameters.hpp"
#include "benchmarks/rings/views.hpp"
#include "core/units.hpp"
#include "frame/benchmark_with.hpp"
#include "frame/ending.hpp"
#include "frame/ring_patterns/ring_runner.hpp"

namespace effio::rings {
namespace {

/// Messages of a ring between all ranks, both ways.
double ring_bytes(const Schedule& s, int ranks) {
    const double loops = 2 * static_cast<double>(s.ring_loops + 1);  // by two ways
    return loops * s.ring_measurements * (1 + s.random_rings) * 2 * ranks *
           static_cast<double>(s.bytes);
}

/// Whether --until-ci goes by this figure.
bool decides(const std::string& name) {
    for (const Length which : {Length::latency, Length::bandwidth}) {
        const auto names = deciding(which);
        if (std::find(names.begin(), names.end(), name) != names.end()) return true;
    }
    return false;
}

class Rings : public BenchmarkWith<Parameters> {
  public:
    std::string_view name() const override { return "rings"; }
    std::string_view purpose() const override {
        return "Ping-pong, natural ring and random rings as in the HPC Challenge: latency with 8 "
               "B, "
               "bandwidth with 2 MB";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 64 effio-mpi rings\n"
               "      the numbers of hpccoutf.txt, at most about a minute\n"
               "  mpiexec -n 64 effio-mpi rings --until-ci 5%\n"
               "      again and again until the 95 % intervals of the means are within 5 %\n"
               "  mpiexec -n 64 effio-mpi rings --rmax 2200\n"
               "      also the balance of random-ring bandwidth to 2200 GFLOP/s of HPL";
    }
    ResultInfo results() const override { return rings::result_info(); }
    Result<Plan> plan(const PlanInput& input) const override;
    Ending run(Job& job) override;
};

/// What is measured at one length, for programs.
struct PlannedLength {
    const Schedule& schedule;
    std::int64_t pairs;
    double bytes;
};

const Fields<PlannedLength>& planned_length_fields() {
    using P = PlannedLength;
    static const Fields<P> fields{
        {"bytes", Unit::bytes, "of a message", [](const P& p) { return p.schedule.bytes; }},
        {"pairs_at_most", Unit::count, "of ranks", &P::pairs},
        {"pair_seconds_at_most", Unit::seconds, "for all pairs",
         [](const P& p) { return p.schedule.pair_seconds; }},
        {"random_rings", Unit::count, "in addition to the natural ring",
         [](const P& p) { return p.schedule.random_rings; }},
        {"ring_measurements", Unit::count, "of each ring",
         [](const P& p) { return p.schedule.ring_measurements; }},
        {"ring_loops", Unit::count, "of each measurement",
         [](const P& p) { return p.schedule.ring_loops; }},
        {"ring_bytes", Unit::bytes, "of all messages in rings", &P::bytes}};
    return fields;
}

Result<Plan> Rings::plan(const PlanInput& input) const {
    if (input.ranks < 2) return usage_error("rings needs at least 2 ranks: --plan-ranks");
    Plan plan;
    const std::size_t memory = Runner::memory_bytes(parameters_.network.verify);
    plan.text =
        fmt::format("Plan of rings with {}\nmemory per rank: {} to hold messages\n",
                    count_of(input.ranks, "rank"), format_size(static_cast<double>(memory)));
    double fixed_seconds = 0;
    struct OfRings {
        double bytes = 0;  // of each rank
        double limit_seconds = 0;
    };
    std::vector<OfRings> rings;
    const std::array schedules{parameters_.latency(), parameters_.bandwidth()};
    std::vector<PlannedLength> lengths;
    for (const Schedule& s : schedules) {
        const Pairs most(input.ranks, 1);
        const double bytes = ring_bytes(s, input.ranks);
        fixed_seconds += s.pair_seconds;
        rings.push_back({bytes / input.ranks, s.ring_seconds});
        plan.text += fmt::format(
            "messages of {} B: up to {} pairs in at most {}, then 1 natural and {} random rings, "
            "{} measurements of {} loops each ({} in all)\n",
            s.bytes, most.combinations() - input.ranks, format_duration(s.pair_seconds),
            s.random_rings, s.ring_measurements, s.ring_loops, format_size(bytes));
        lengths.push_back({s, most.combinations() - input.ranks, bytes});
    }
    plan.estimate =
        Estimate({parameters_.rounds, "round", &parameters_.until_ci}, [&](const Assumed& assumed) {
            Load load;
            load.seconds = assumed.early ? 0 : fixed_seconds;
            for (const OfRings& some : rings) {
                const double all = some.bytes / (assumed.speed * input.rate);
                load.seconds += some.limit_seconds > 0 ? std::min(all, some.limit_seconds) : all;
            }
            return load;
        });
    plan.estimate.assume_network(input.rate);
    if (parameters_.rounds > 1) plan.text += plan.estimate.repetitions() + "\n";
    plan.text += plan.estimate.text();
    plan.facts = {{"benchmark", Unit::word, "its name", std::string("rings")},
                  {"ranks", Unit::count, "of the run", input.ranks},
                  {"memory_per_rank_bytes", Unit::bytes, "to hold messages", memory},
                  {"lengths", planned_length_fields(), "of messages", lengths},
                  {"rounds", Unit::count, "at most", parameters_.rounds},
                  {"expected_seconds", Unit::seconds, "at the assumed rate",
                   plan.estimate.expected().seconds}};
    return plan;
}

Ending Rings::run(Job& job) {
    Session& session = job.session;
    if (session.comm.size() < 2) {
        return Ending::from(usage_error(
            "rings measures messages between ranks and needs at least 2 of them; this run has 1 "
            "(start it with mpiexec -n 2 or more)"));
    }
    session.clock.set_collective_cost(parameters_.network.model.collective.count);
    std::int64_t seed = parameters_.seed.value_or(std::time(nullptr));
    session.comm.broadcast(seed);
    Json extra;
    extra["rings"] = describe(seed);
    extra["backend"] = parameters_.network.describe();
    job.announce(std::move(extra));

    const ExchangeMaker exchanges = parameters_.network.maker();
    Runner runner(job, exchanges, static_cast<std::uint32_t>(seed), parameters_.network.verify);
    UntilCi until_ci(parameters_.until_ci, parameters_.rounds, session.clock.now());
    RoundFigures rounds;
    std::array<LengthResult, 2> last;
    // A length whose figures are known as well as asked is not measured again.
    std::array<int, 2> needed{1, 1};
    const std::array<Schedule, 2> schedules{parameters_.latency(), parameters_.bandwidth()};
    for (std::int64_t round = 0; round < parameters_.rounds; ++round) {
        std::vector<Figure> figures;
        for (std::size_t i = 0; i < last.size(); ++i) {
            if (needed.at(i) == 0) continue;
            runner.begin_round(round, until_ci.expected());
            const LengthResult found = runner.measure(schedules.at(i));
            if (session.comm.is_root()) {
                record(session.results.recorder(), found, session.comm.size(), job.topology.nodes,
                       round);
            }
            if (runner.interrupted()) break;
            last.at(i) = found;
            for (Figure& f : figures_of(static_cast<Length>(i), found, session.comm.size(),
                                        parameters_.rmax_gflops)) {
                figures.push_back(std::move(f));
            }
        }
        if (runner.interrupted()) break;
        for (const Figure& f : figures) {
            rounds.add(f);
            if (f.metric.reason.empty() && decides(f.name)) {
                until_ci.add({f.name, f.where, f.metric.unit, f.name}, f.metric.value);
            }
        }
        rounds.end_round();
        if (!until_ci.another(session.comm, session.clock.now())) break;
        for (std::size_t i = 0; i < needed.size() && parameters_.until_ci.on(); ++i) {
            const auto names = deciding(static_cast<Length>(i));
            needed.at(i) = std::any_of(names.begin(), names.end(),
                                       [&](const auto& n) { return until_ci.is_wide(n); })
                               ? 1
                               : 0;
        }
        session.comm.broadcast(std::span<int>(needed));
    }
    const Agreed agreed = agree(session, session.comm, runner.outcome());
    if (session.comm.is_root()) {
        record(session.results.recorder(), rounds);
        print(session.console, last[0], last[1], rounds, session.results.path());
    }
    until_ci.report(session, "rings");
    return ending_of_messages(agreed, runner.interrupted(), "rings");
}

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table
        .add("seed", seed,
             "seed of the random rings (srand48); the same seed and number of ranks give the same "
             "rings")
        .range(0, 4294967295.0)
        .automatic("the time of day, recorded in the result");
    table
        .add("rmax", rmax_gflops,
             "HPL result of the same ranks, in GFLOP/s: also print the balance, the ratio of the "
             "accumulated random-ring bandwidth to it")
        .range(1e-9, 1e18)
        .metavar("GFLOPS");
    table
        .add("latency-time", latency_time,
             "time for the latency of all pairs; with many ranks only regularly chosen pairs are "
             "measured")
        .range(1e-3, 1e6)
        .expert();
    table.add("bandwidth-time", bandwidth_time, "time for the bandwidth of all pairs, likewise")
        .range(1e-3, 1e6)
        .expert();
    table
        .add("ring-time", ring_time,
             "start no further random ring of a length after this time; 0 = measure all 30 (8 B) "
             "and 10 (2 MB)")
        .range(0, 1e6)
        .expert();
    until_ci.declare_rounds(table, rounds,
                            "number of rounds; values are means over the rounds, with intervals");
    network.declare(table);
}

Status Parameters::check() {
    if (auto known = until_ci.check(rounds, "--rounds"); !known) return known;
    return network.check();
}

Schedule Parameters::latency() const {
    Schedule s = latency_schedule;
    s.pair_seconds = latency_time.count;
    s.ring_seconds = ring_time.count;
    return s;
}

Schedule Parameters::bandwidth() const {
    Schedule s = bandwidth_schedule;
    s.pair_seconds = bandwidth_time.count;
    s.ring_seconds = ring_time.count;
    return s;
}

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Rings>();
}

}  // namespace effio::rings
