// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/b_eff.hpp"

#include <ctime>

#include "benchmarks/b_eff/call_times.hpp"
#include "benchmarks/b_eff/pairs.hpp"
#include "benchmarks/b_eff/plan.hpp"
#include "benchmarks/b_eff/runner.hpp"
#include "benchmarks/b_eff/views.hpp"
#include "frame/benchmark_with.hpp"
#include "frame/until_ci.hpp"
#include "parallel/local_time.hpp"

namespace effio::b_eff {
namespace {

class Beff : public BenchmarkWith<Parameters> {
  public:
    explicit Beff(FrontEnd front_end) : front_end_(std::move(front_end)) {}

    std::string_view name() const override { return "b-eff"; }
    std::string_view purpose() const override {
        return "Effective communication bandwidth (b_eff 3.6): rings and random rings of all "
               "ranks, 21 message sizes, three methods, averaged into one number";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 2 effio-mpi b-eff --quick\n"
               "      a quick check in about 20 seconds (NOT VALID officially)\n"
               "  mpiexec -n 64 effio-mpi b-eff\n"
               "      an official run, 1 to 5 minutes\n"
               "  mpiexec -n 64 effio-mpi b-eff --quick --pairs all\n"
               "      also every pair of ranks by itself: which link or node is slow\n"
               "  mpiexec -n 64 effio-mpi b-eff --quick --until-ci 5%\n"
               "      quick rounds until the 95 % interval of their mean is within 5 % of it\n"
               "  effio-mpi b-eff --plan --plan-ranks 1024 --memory-per-rank 2GiB\n"
               "      the patterns of 1024 ranks, without a run";
    }
    ResultInfo results() const override { return b_eff::result_info(); }
    Result<Plan> plan(const PlanInput& input) const override {
        return make_plan(parameters_, input);
    }
    Ending run(Job& job) override;

  private:
    Setup set_up(const Job& job) const;
    bool next_round(Session& session, UntilCi& until_ci, const RunResult& result) const;
    void beyond(Job& job, const ExchangeMaker& exchanges, Runner& runner, const RunResult& result,
                Ending& ending) const;

    FrontEnd front_end_;
};

Setup Beff::set_up(const Job& job) const {
    const Comm& comm = job.session.comm;
    Setup s;
    s.parameters = parameters_;
    s.ranks = comm.size();
    s.nodes = job.topology.nodes;
    const std::int64_t per_rank = parameters_.memory_per_rank ? parameters_.memory_per_rank->count
                                                              : memory_per_rank(comm, job.topology);
    s.memory_mib = per_rank / MiB;
    s.lmax = lmax_bytes(s.memory_mib);
    s.lengths = MessageLengths(s.lmax);
    s.patterns = pattern_table(s.ranks, parameters_.random_patterns(), parameters_.additional);
    s.grid_2d = grid_extents(s.ranks, 2);
    s.grid_3d = grid_extents(s.ranks, 3);
    std::int64_t seed = parameters_.seed.value_or(std::time(nullptr));
    comm.broadcast(seed);
    s.seed = static_cast<std::uint32_t>(seed);
    s.uname = find_uname();
    s.date = now_as_ctime();
    return s;
}

Ending Beff::run(Job& job) {
    Session& session = job.session;
    if (session.comm.size() < 2) {
        return Ending::from(usage_error(
            "b_eff measures messages between ranks and needs at least 2 of them; this run has 1 "
            "(start it with mpiexec -n 2 or more)"));
    }
    session.clock.set_collective_cost(parameters_.network.model.collective.count);
    RunResult result(set_up(job));
    Json extra;
    extra["b-eff"] = describe(result.setup);
    extra["backend"] = parameters_.network.describe();
    job.announce(std::move(extra));

    const auto records = make_record_view(session.results.recorder());
    const auto tables = make_console_view(session.console, session.results.path());
    std::vector<Observer*> observers{records.get(), tables.get()};
    if (front_end_.classic_view) observers.push_back(front_end_.classic_view.get());
    const ExchangeMaker exchanges =
        front_end_.exchanges ? front_end_.exchanges : parameters_.network.maker();
    UntilCi until_ci(parameters_.until_ci, parameters_.rounds, session.clock.now());
    result.rounds_expected = until_ci.expected();
    auto runner = std::make_unique<Runner>(job, exchanges, result, observers);
    Ending ending = runner->measure();
    while (ending.status == ExitCode::done && next_round(session, until_ci, result)) {
        const RunResult before = result;
        result = RunResult(before.setup);
        result.node_steps = before.node_steps;
        result.loop_seconds = before.loop_seconds;
        result.round = before.round + 1;
        result.rounds_expected = until_ci.expected();
        runner.reset();  // its buffers first
        runner = std::make_unique<Runner>(job, exchanges, result, observers);
        ending = runner->measure();
        if (!result.complete) result = before;  // what is complete counts
    }
    if (session.comm.is_root()) {
        for (Observer* observer : observers) observer->end(result);
    }
    until_ci.report(session, "b-eff");
    if (result.complete && ending.status != ExitCode::interrupted) {
        beyond(job, exchanges, *runner, result, ending);
    }
    return ending;
}

/// Collective, after a round.
bool Beff::next_round(Session& session, UntilCi& until_ci, const RunResult& result) const {
    if (session.comm.is_root()) {
        const double value = effective_bandwidth(result).both;
        if (value > 0) until_ci.add({"b_eff", Json::object(), "B/s", "b_eff"}, value);
    }
    return until_ci.another(session.comm, session.clock.now()) &&
           result.round + 1 < parameters_.rounds;
}

/// The passes that are not part of the definition, after its result is safe.
void Beff::beyond(Job& job, const ExchangeMaker& exchanges, Runner& runner, const RunResult& result,
                  Ending& ending) const {
    bool stopped = false;
    if (parameters_.call_times) {
        stopped = !time_calls(job, runner.line(), exchanges, result, runner.messages());
    }
    if (parameters_.pairs != Pairs::none && !stopped) {
        Outcome outcome;
        const PairsResult pairs =
            measure_pairs(job, exchanges, parameters_, result.setup.seed, outcome);
        if (job.session.comm.is_root()) report_pairs(job.session, pairs);
        stopped = pairs.interrupted;
        const Agreed agreed = agree(job.session, job.session.comm, outcome);
        if (agreed.failed() && ending.status == ExitCode::done) {
            ending = Ending::from(*agreed.error);
        }
    }
    if (stopped) {
        ending.status = worse(ending.status, ExitCode::interrupted);
        ending.reason = "stopped by a signal after b_eff; what follows it is not complete";
    }
}

}  // namespace

std::unique_ptr<Benchmark> make_benchmark(FrontEnd front_end) {
    return std::make_unique<Beff>(std::move(front_end));
}

}  // namespace effio::b_eff
