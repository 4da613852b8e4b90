// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/interference/interference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/interference/summary.hpp"
#include "benchmarks/interference/tables.hpp"
#include "benchmarks/interference/turn_run.hpp"
#include "benchmarks/together/members.hpp"
#include "frame/job/group.hpp"
#include "frame/job/live_view.hpp"
#include "frame/job/results.hpp"
#include "frame/job/whole_job.hpp"
#include "parallel/node_clocks.hpp"
#include "parallel/recorded_environment.hpp"
#include "parallel/system.hpp"

namespace effio::interference {
namespace {

using together::Members;

struct Parameters {
    together::Options groups;
    Combinations combinations = Combinations::pairs;
    std::int64_t rounds = 3;

    void declare(OptionTable& table) {
        groups.declare_groups(table);
        table.group("Turns");
        table.choice("combinations", combinations,
                     {{"pairs", Combinations::pairs}, {"all", Combinations::all}},
                     "what is measured after each group alone: each pair of groups at once, or all "
                     "at once");
        table
            .add("rounds", rounds,
                 "rounds of all turns, in an order that rotates; an interval needs five")
            .range(1, 10000);
    }
};

/// Path of the file next to the result, for all that the groups leave.
std::string place_of_turns(const std::string& result) {
    const std::filesystem::path path(result);
    return (path.parent_path() / (path.stem().string() + ".turns")).string();
}

/// The job in `rounds` rounds, on one rank of it.
class Rounds {
  public:
    Rounds(const Parameters& parameters, const together::Options& options, const GroupRun& whole,
           World& world, Comm& all, Results& results)
        : parameters_(parameters),
          options_(options),
          whole_(whole),
          world_(world),
          all_(all),
          results_(results),
          console_(all.is_root() && !whole.options.quiet, false),
          topology_(find_topology(all)),
          clocks_(all, topology_, world.readings(), whole.options.clock) {}

    /// Collective. The end is written when it returns.
    ExitCode run() {
        Members members;
        End end;
        if (const auto made = make_members(options_, members); !made) {
            end.status = made.error().exit_code;
            end.reason = made.error().text();
        } else {
            for (const auto& m : members) benchmarks_.emplace_back(m.benchmark->name());
            turns_ = turns_of(static_cast<int>(members.size()), parameters_.combinations);
            announce(members);
            measure(end);
            clocks_.note_end(end.detail, "");
        }
        finish(end);
        return end.status;
    }
    bool left_open() const { return left_open_; }

  private:
    void announce(const Members& members) {
        // Collective, like what it calls.
        Json header = run_header(whole_, all_, topology_, clocks_.at_begin());
        header["setup_seconds"] = Clock::monotonic_seconds() - world_.initialised();
        if (members.front().benchmark->virtual_time()) {
            // The groups' clocks; the job's own is a real one.
            header["clock"]["virtual"] = true;
            header["clock"]["source"] = "model";
        }
        SetUp set_up{{}, turns_, parameters_.rounds, place_of_turns(results_.path())};
        for (const auto& m : members) {
            set_up.groups.push_back({m.number, std::string(m.benchmark->name()), m.ranks,
                                     m.first_rank, masked_arguments(m.invocation.arguments)});
            group_ranks_.push_back(m.ranks);
        }
        header["interference"] = describe(set_up);
        results_.recorder().run(std::move(header));
        console_.print(heading(benchmarks_, group_ranks_, turns_, parameters_.rounds));
    }

    void measure(End& end) {
        int number = 0;
        const auto all_turns =
            static_cast<double>(parameters_.rounds) * static_cast<double>(turns_.size());
        for (std::int64_t round = 0; round < parameters_.rounds; ++round) {
            for (const Turn& turn : turns_of_round(turns_, round)) {
                ++number;
                const std::string place =
                    fmt::format("{}/round-{}-groups-{}", place_of_turns(results_.path()), round + 1,
                                fmt::join(turn, "-"));
                // Between turns the whole job is watched as one.
                between_.reset();
                TurnOutcome outcome = run_turn(
                    world_, all_, {options_, turn, round, place, [this](const End& abrupt) {
                                       results_.end_from_any_rank(abrupt);
                                   }});
                between_.emplace(world_, all_, whole_, results_);
                Progress::Step step;
                step.title = fmt::format("turn {} of {:.0f}", number, all_turns);
                step.plan_done = number / all_turns;
                world_.progress().begin(step);
                left_open_ = left_open_ || outcome.left_open;
                note(number, outcome);
                end.status = worse(end.status, outcome.code);
                if (!outcome.started) {
                    end.reason = outcome.reason;
                    return;
                }
                if (end.status != ExitCode::done && end.reason.empty()) {
                    end.reason = fmt::format("in turn {} (round {}, {}): {}", number, round + 1,
                                             title_of(turn, benchmarks_), name(outcome.code));
                    if (!outcome.reason.empty()) end.reason += ": " + outcome.reason;
                }
                if (outcome.code == ExitCode::interrupted || stopped()) {
                    end.status = worse(end.status, ExitCode::interrupted);
                    return;
                }
            }
        }
    }

    /// Collective.
    bool stopped() { return all_.max(std::int64_t{world_.stop().load() ? 1 : 0}) != 0; }

    /// Records on the root the result of a turn.
    void note(int number, TurnOutcome& outcome) {
        if (!all_.is_root() || !outcome.started) return;
        for (const auto& part : outcome.done.parts) {
            for (const auto& m : measurements_of(outcome.done, part, number, benchmarks_,
                                                 group_ranks_, topology_.nodes)) {
                results_.recorder().measurement(m);
            }
        }
        console_.print(line_of(outcome.done, benchmarks_));
        summary_.add(std::move(outcome.done));
    }

    void finish(End& end) {
        if (all_.is_root()) {
            const auto slow_downs = summary_.slow_downs();
            const auto met = summary_.met();
            for (const auto& s : slow_downs) results_.recorder().figure(figure_of(s, benchmarks_));
            for (const auto& m : met) results_.recorder().figure(figure_of(m, benchmarks_));
            console_.print(matrix(slow_downs, benchmarks_));
            console_.print(phases_table(slow_downs, benchmarks_));
            console_.print(met_table(met, benchmarks_));
        }
        if (results_.failed()) {
            end.status = worse(end.status, ExitCode::results);
            if (end.reason.empty()) end.reason = "the result file could not be written";
        }
        // All ranks leave with the same code.
        auto code = static_cast<int>(end.status);
        all_.broadcast(code);
        end.status = static_cast<ExitCode>(code);
        end.detail["finished"] = utc_now();
        results_.recorder().end(end);
        if (all_.is_root() && end.status != ExitCode::done) {
            fmt::print(stderr, "effio-mpi: {}: {}\n", name(end.status), end.reason);
        }
        if (all_.is_root() && !results_.path().empty()) {
            console_.print(fmt::format("\nResults: {}, of each turn: {}\n", results_.path(),
                                       place_of_turns(results_.path())));
        }
        between_.reset();
    }

    const Parameters& parameters_;
    const together::Options& options_;
    const GroupRun& whole_;
    World& world_;
    Comm& all_;
    Results& results_;
    Console console_;
    Topology topology_;
    NodeClocks clocks_;
    std::vector<std::string> benchmarks_;
    std::vector<int> group_ranks_;
    std::vector<Turn> turns_;
    std::optional<WatchedSession> between_;
    Summary summary_;
    bool left_open_ = false;
};

/// A group, for programs.
struct PlannedGroup {
    int number;
    std::string benchmark;
    int ranks;
    Json plan;
};

Facts planned_facts(std::int64_t rounds, const std::vector<Turn>& turns,
                    const std::vector<PlannedGroup>& groups) {
    using G = PlannedGroup;
    static const Fields<G> fields{
        {"number", Unit::count, "from 1", &G::number},
        {"benchmark", Unit::word, "of the group", &G::benchmark},
        {"ranks", Unit::count, "of the group", &G::ranks},
        {"plan", Unit::object, "that the benchmark itself would print", &G::plan}};
    Facts facts{{"benchmark", Unit::word, "its name", std::string("interference")},
                {"rounds", Unit::count, "of all turns", rounds},
                {"turns", Unit::count, "numbers of the groups of each turn", turns},
                {"groups", fields, "by number", groups}};
    facts[2].info.shape = FieldShape::rows;
    return facts;
}

class Interference : public WholeJob {
  public:
    std::string_view name() const override { return "interference"; }
    std::string_view purpose() const override {
        return "How much several benchmarks slow each other down: each alone on its ranks of one "
               "job, then together with the others";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 6 effio-mpi interference --group '4: ior --block 1GiB' \\\n"
               "      --group '2: mdtest --items 1000' --rounds 6\n"
               "  mpiexec -n 3 effio-mpi interference -g '1: ior …' -g '1: mdtest …' \\\n"
               "      -g '1: b-eff' --combinations all";
    }
    ResultInfo results() const override {
        ResultInfo info = interference::result_info();
        Plan plan;
        plan.facts = planned_facts(parameters_.rounds, {}, {});
        info.plan = info_of(plan);
        return info;
    }
    void declare(OptionTable& table) override { parameters_.declare(table); }

    Status check() override {
        Members members;
        if (auto made = make_members(parameters_.groups, members); !made) return made.error();
        if (members.size() < 2) {
            return usage_error("two groups are needed at least: --group once for each");
        }
        for (const auto& m : members) {
            if (m.benchmark->virtual_time() != members.front().benchmark->virtual_time()) {
                return usage_error(
                    fmt::format("{} and {}: one is in virtual time (sim) and the other is not",
                                members.front().name(), m.name()));
            }
        }
        return {};
    }

    bool virtual_time() const override {
        Members members;
        return make_members(parameters_.groups, members) &&
               members.front().benchmark->virtual_time();
    }

    Result<Plan> plan(const PlanInput& input) const override {
        Members members;
        if (auto made = make_members(parameters_.groups, members); !made) return made.error();
        // One rank: nothing is launched, and no number given.
        if (input.ranks != 1) {
            if (auto fits = check_ranks(members, input.ranks); !fits) return fits.error();
        }
        const auto turns = turns_of(static_cast<int>(members.size()), parameters_.combinations);
        std::vector<std::string> benchmarks;
        std::vector<int> ranks;
        std::vector<PlannedGroup> groups;
        std::string texts;
        std::vector<Estimate> estimates;
        for (const auto& m : members) {
            benchmarks.emplace_back(m.benchmark->name());
            ranks.push_back(m.ranks);
            PlanInput own = input;
            own.ranks = m.ranks;
            own.ranks_per_node = std::min(input.ranks_per_node, m.ranks);
            auto plan = m.benchmark->plan(own);
            if (!plan) return plan.error();
            texts += fmt::format("\n{}, {} {}\n\n{}", m.name(), m.ranks,
                                 m.ranks == 1 ? "rank" : "ranks", plan->text);
            estimates.push_back(plan->estimate);
            groups.push_back({m.number, std::string(m.benchmark->name()), m.ranks,
                              data_of(*plan, own, m.benchmark->needed_directories())});
        }
        Plan whole;
        for (const auto& turn : turns) {
            std::vector<Estimate> together;
            for (const int number : turn) {
                together.push_back(estimates[static_cast<std::size_t>(number) - 1]);
            }
            whole.estimate.then(Estimate::together(together),
                                static_cast<double>(parameters_.rounds));
        }
        whole.text = heading(benchmarks, ranks, turns, parameters_.rounds) + "all turns\n" +
                     whole.estimate.text() + texts;
        whole.facts = planned_facts(parameters_.rounds, turns, groups);
        return whole;
    }

    std::vector<std::string> needed_directories() const override {
        Members members;
        std::vector<std::string> all;
        if (!make_members(parameters_.groups, members)) return all;
        for (const auto& m : members) {
            for (const auto& path : m.benchmark->needed_directories()) {
                // The group's own one is made for each run.
                const std::string needed = path == m.own_directory
                                               ? std::filesystem::path(path).parent_path().string()
                                               : path;
                if (std::find(all.begin(), all.end(), needed) == all.end()) all.push_back(needed);
            }
        }
        return all;
    }

    ExitCode run_whole(const JobOptions& job, const OptionTable& table,
                       const Invocation& invocation) override {
        together::Options options = parameters_.groups;
        options.job.watchdog = job.watchdog;
        options.job.agree_deadline = job.agree_deadline;
        options.job.quiet = true;
        // What the first group does is what the job shows of itself.
        options.job.progress = live_view(job);
        Members members;
        if (const auto ranks = launcher_size(); ranks && make_members(options, members)) {
            // Before MPI, where the launcher says.
            if (const auto fits = check_ranks(members, *ranks); !fits) {
                if (launcher_rank().value_or(0) == 0) {
                    fmt::print(stderr, "effio-mpi interference: {}\n", fits.error().text());
                }
                return fits.error().exit_code;
            }
        }
        const GroupRun whole{*this, job, table, invocation};
        World world(sentinel_settings(whole));
        Clock real;
        Comm all = Comm::world(real);
        const auto refuse = [&](const Error& error) {
            if (all.is_root()) {
                fmt::print(stderr, "effio-mpi interference: {}\n", error.text());
            }
            return error.exit_code;
        };
        if (const auto fits = world.check(); !fits) return refuse(fits.error());
        members.clear();
        if (const auto made = make_members(options, members); !made) return refuse(made.error());
        if (const auto fits = check_ranks(members, all.size()); !fits) return refuse(fits.error());
        world.progress().call("create the result file");
        auto results = open_results(all, *this, job, invocation);
        if (!results) return refuse(results.error());
        ExitCode code = ExitCode::done;
        bool left_open = false;
        {
            Rounds rounds(parameters_, options, whole, world, all, **results);
            code = rounds.run();
            left_open = rounds.left_open();
        }
        WatchedSession last(world, all, whole, **results);
        last.session().left_open = left_open;
        if ((*results)->moved() || (*results)->failed()) code = worse(code, ExitCode::results);
        auto agreed = static_cast<int>(code);
        all.broadcast(agreed);
        return world.leave(last.session(), all, static_cast<ExitCode>(agreed), nullptr);
    }

  private:
    Parameters parameters_;
};

}  // namespace

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Interference>();
}

}  // namespace effio::interference
