// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/together/command.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "benchmarks/together/members.hpp"
#include "frame/job/group.hpp"
#include "frame/run_job.hpp"
#include "parallel/gathering.hpp"
#include "parallel/recorded_environment.hpp"
#include "parallel/results.hpp"
#include "parallel/system.hpp"
#include "parallel/world.hpp"

namespace effio::together {
namespace {

constexpr const char* log_name = "together.log";
constexpr const char* command_name = "effio-mpi together";
constexpr const char* examples =
    "Examples:\n"
    "  mpiexec -n 6 effio-mpi together --group '4: ior --block 1GiB' --group '2: mdtest -n 1000'\n"
    "  mpiexec -n 8 effio-mpi together -g '4: ior --dir /scratch --stonewall 5min' \\\n"
    "      -g '4: b-eff' --show 2 --result side-by-side";

void say_first(std::FILE* where, const std::string& text) {
    if (launcher_rank().value_or(0) == 0) std::fputs(text.c_str(), where);
}

ExitCode refuse(const Error& error) {
    return effio::refuse(
        stderr, error,
        fmt::format("{}: {}\nTry: {} --help\n", command_name, error.text(), command_name));
}

ExitCode print_plans(const Members& members, const JobOptions& job) {
    std::string text;
    Json groups = Json::array();
    std::vector<Estimate> estimates;
    for (const auto& member : members) {
        const PlanInput input = job.plan_input(member.ranks);
        auto plan = member.benchmark->plan(input);
        if (!plan) {
            say_first(stderr, fmt::format("{}: {}: {}\n", command_name, member.name(),
                                          plan.error().text()));
            return plan.error().exit_code;
        }
        text += fmt::format("{}{}, {} {}\n\n{}", text.empty() ? "" : "\n", member.name(),
                            member.ranks, member.ranks == 1 ? "rank" : "ranks", plan->text);
        Json data = data_of(*plan, input, member.benchmark->needed_directories());
        estimates.push_back(plan->estimate);
        groups.push_back(Json{{"number", member.number},
                              {"benchmark", member.benchmark->name()},
                              {"ranks", member.ranks},
                              {"plan", std::move(data)}});
    }
    const Estimate all = Estimate::together(estimates);
    text += fmt::format("\nAll groups at once\n{}", all.text());
    if (job.plan_json) {
        const Json data{{"groups", std::move(groups)}, {"estimate", all.to_json()}};
        text = json_lines(data) + "\n";
    }
    say_first(stdout, text);
    return ExitCode::done;
}

std::string folder_of(const std::string& place, const Member& member) {
    return fmt::format("{}/group-{}", place, member.number);
}

/// The directory of the results with the log of the groups in it, both made here. A log that is
/// there already belongs to another job.
Result<std::string> make_place(const std::string& asked, const Members& members) {
    const std::string first = asked.empty() ? fmt::format("effio-together-{:%Y%m%dT%H%M%SZ}",
                                                          fmt::gmtime(std::time(nullptr)))
                                            : asked;
    std::string place = first;
    for (int attempt = 2;; ++attempt) {
        std::error_code code;
        std::filesystem::create_directories(place, code);
        if (code) {
            Error error =
                system_error("cannot create the directory of results", place, code.value());
            error.exit_code = ExitCode::results;
            return error;
        }
        const std::string log = fmt::format("{}/{}", place, log_name);
        auto file = FileSink::create(log);
        if (file) break;
        if (!asked.empty() || attempt == 1000) return file.error();
        place = fmt::format("{}-{}", first, attempt);
    }
    const Neighbors to_all(fmt::format("{}/{}", place, log_name), {""}, 0, 0);
    for (const auto& member : members) {
        to_all.write(Json{{"event", "start"},
                          {"group", member.number},
                          {"benchmark", member.benchmark->name()},
                          {"ranks", member.ranks},
                          {"first_rank", member.first_rank},
                          {"command", masked_arguments(member.invocation.arguments)},
                          {"result", fmt::format("group-{}/result.jsonl", member.number)}});
    }
    return place;
}

void print_outcome(const Members& members, const std::string& place, const Neighbors& neighbors) {
    const auto reports = neighbors.reports();
    std::string text = "\n";
    for (std::size_t i = 0; i < reports.size(); ++i) {
        text +=
            fmt::format("{}: {}, {}/result.jsonl\n", members[i].name(),
                        reports[i].ended ? name(*reports[i].ended) : "its end is not known here",
                        folder_of(place, members[i]));
    }
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

ExitCode code_of_root(const Comm& all, const Result<std::string>& made) {
    auto code = static_cast<int>(made ? ExitCode::done : made.error().exit_code);
    all.broadcast(code);
    return static_cast<ExitCode>(code);
}

ExitCode run(const Options& options, Members& members) {
    Sentinel::Settings settings;
    settings.hang_limit_seconds = options.job.watchdog.count;
    World world(settings);
    const auto fail = [&world](const Error& error) {
        if (world.rank() == 0) {
            fmt::print(stderr, "{}: {}\n", command_name, error.text());
        }
        return error.exit_code;
    };
    if (const auto whole = world.check(); !whole) return fail(whole.error());
    if (const auto fits = check_ranks(members, world.size()); !fits) return fail(fits.error());

    Clock real;
    Comm all = Comm::world(real);
    world.progress().call("create the directory of results");
    Result<std::string> made{std::string()};
    if (all.is_root()) made = make_place(options.job.result, members);
    if (const ExitCode code = code_of_root(all, made); code != ExitCode::done) {
        return all.is_root() ? fail(made.error()) : code;
    }
    std::string place = *made;
    all.broadcast(place);

    const Member& mine = member_of(members, world.rank());
    std::vector<std::string> names;
    double grace = 0;
    for (const auto& member : members) {
        names.push_back(member.name());
        grace = std::max(grace, member.job.agree_deadline.count);
    }
    Neighbors neighbors(fmt::format("{}/{}", place, log_name), std::move(names),
                        static_cast<std::size_t>(mine.number) - 1, grace);
    Clock clock(mine.benchmark->virtual_time() ? Clock::Kind::virtual_time : Clock::Kind::real);
    Comm comm = all.split(mine.number, clock);
    JobOptions job = mine.job;
    job.result = folder_of(place, mine) + "/result.jsonl";
    if (comm.is_root()) {
        std::error_code ignored;  // that there is none shows when the file in it is created
        std::filesystem::create_directory(folder_of(place, mine), ignored);
    }
    Gathering gathering(std::move(all), neighbors, [&] {
        if (!options.job.quiet) print_outcome(members, place, neighbors);
    });
    return run_group(
        world, comm,
        {*mine.benchmark, job, mine.table, mine.invocation, &gathering, mine.first_rank,
         mine.own_directory, mine.cap_share, ranks_of_others(members, mine)});
}

}  // namespace

ExitCode run_command(const std::vector<std::string>& words) {
    Options options;
    OptionTable table(command_name,
                      "Several benchmarks at once, each on separate ranks of one job. They start "
                      "together; each has its results in its own directory, DIR/group-1, "
                      "DIR/group-2, and so on (--result DIR), and its files in such a directory "
                      "under the one that it names.",
                      examples);
    options.declare(table);
    for (const auto& word : words) {
        if (word == "--help" || word == "-h" || word == "--help-all") {
            say_first(stdout, table.help(word == "--help-all"));
            return ExitCode::done;
        }
    }
    if (auto parsed = table.parse(words); !parsed) return refuse(parsed.error());
    Members members;
    if (auto made = make_members(options, members); !made) return refuse(made.error());
    const auto ranks = options.job.plan_ranks ? options.job.plan_ranks
                                              : std::optional<std::int64_t>(launcher_size());
    if (ranks) {
        if (auto fits = check_ranks(members, *ranks); !fits) return refuse(fits.error());
    }
    if (options.job.plan || options.job.plan_json) return print_plans(members, options.job);
    return run(options, members);
}

}  // namespace effio::together
