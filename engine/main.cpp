// SPDX-License-Identifier: BSD-3-Clause
// effio-mpi: one subcommand per benchmark. Everything on the command line is judged before MPI
// starts.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/registry.hpp"
#include "benchmarks/together/command.hpp"
#include "classic/classic.hpp"
#include "core/table.hpp"
#include "frame/benchmark.hpp"
#include "frame/run_job.hpp"
#include "parallel/sentinel.hpp"
#include "parallel/system.hpp"
#include "storage/backends.hpp"
#include "storage/sion/commands.hpp"

namespace effio {
namespace {

using Words = std::vector<std::string>;

/// A server's failover takes minutes, and the originals wait for it.
constexpr const char* classic_watchdog = "10min";

/// True on the one process of a launch that should speak before MPI is started.
bool speaks() {
    return launcher_rank().value_or(0) == 0;
}

void say(std::FILE* where, const std::string& text) {
    if (speaks()) std::fputs(text.c_str(), where);
}

bool asks_for_help(const std::string& word) {
    return word == "--help" || word == "-h" || word == "help";
}

std::string classic_names() {
    std::string text;
    for (const auto& program : classic_programs()) {
        text += fmt::format("  classic {:<19}{}\n", program.name, program.purpose);
    }
    return text;
}

std::string overview() {
    std::string text =
        "Usage: mpiexec -n RANKS effio-mpi BENCHMARK [options]\n\n"
        "What parallel I/O and communication really deliver.\n\nBenchmarks:\n";
    for (const auto make : benchmark_registry()) {
        const auto benchmark = make();
        text += fmt::format("  {:<14}{}\n", benchmark->name(),
                            wrapped(std::string(benchmark->purpose()), 80, 16));
    }
    text += "\nClassic command lines (the original's options and output):\n" + classic_names();
    text +=
        "\nOther commands:\n"
        "  list            names of the benchmarks, one a line\n"
        "  classic-names   names of the classic programs, one a line\n"
        "  describe [NAME] options of a benchmark (or all, or `backends`) as JSON\n"
        "  describe results [NAME]\n"
        "                  every member of the result files of a benchmark (or all) as JSON\n"
        "  plans           plans of many command lines, each a JSON list of words on a line of "
        "stdin\n"
        "  together        several benchmarks at once, each on its own ranks of one job\n"
        "  sion            contents of SIONlib containers: ls, cat, split, check\n"
        "  version         version, build and exit codes\n"
        "  BENCHMARK --help, BENCHMARK --plan\n\nExit codes:\n";
    for (const auto& row : exit_codes()) {
        text += fmt::format("  {}  {:<12}{}\n", static_cast<int>(row.code), row.name, row.meaning);
    }
    return text;
}

Json describe_benchmark(Benchmark& benchmark) {
    JobOptions options;
    Json description = table_of(benchmark, options).describe();
    description["name"] = benchmark.name();
    description["examples"] = benchmark.examples();
    return description;
}

/// The members of a plan; they do not depend on the number of ranks, which not every benchmark runs
/// with.
FieldInfos plan_info(const Benchmark& benchmark) {
    for (const int ranks : {8, 4, 2, 1}) {
        PlanInput input;
        input.ranks = ranks;
        if (const auto plan = benchmark.plan(input)) return info_of(*plan);
    }
    return {};
}

/// `describe results [NAME]`: every member of result files and plans.
ExitCode describe_results(const Words& words) {
    Json all = Json::object();
    for (const auto make : benchmark_registry()) {
        const auto benchmark = make();
        const std::string name(benchmark->name());
        if (words.size() > 1 && words[1] != name) continue;
        // It fills in what follows from other options; what it refuses has no influence here.
        (void)benchmark->check();
        ResultInfo info = benchmark->results();
        if (info.plan.empty()) info.plan = plan_info(*benchmark);
        all[name] = to_json(info);
    }
    if (all.empty()) {
        say(stderr, fmt::format("effio-mpi: {}; see effio-mpi --help\n",
                                no_benchmark("benchmark", words[1])));
        return ExitCode::usage;
    }
    say(stdout, json_lines(all) + "\n");
    return ExitCode::done;
}

ExitCode describe(const Words& words) {
    if (words.empty()) {
        Json all = Json::array();
        for (const auto make : benchmark_registry()) all.push_back(describe_benchmark(*make()));
        Json codes = Json::array();
        for (const auto& row : exit_codes()) {
            codes.push_back(Json{{"code", static_cast<int>(row.code)},
                                 {"name", row.name},
                                 {"meaning", row.meaning}});
        }
        say(stdout, json_lines(Json{{"engine", describe_build()},
                                    {"benchmarks", std::move(all)},
                                    {"backends", describe_backends()},
                                    {"exit_codes", std::move(codes)}}) +
                        "\n");
        return ExitCode::done;
    }
    if (words[0] == "backends") {
        say(stdout, json_lines(describe_backends()) + "\n");
        return ExitCode::done;
    }
    if (words[0] == "results") return describe_results(words);
    const auto benchmark = find_benchmark(words[0]);
    if (!benchmark) {
        say(stderr, fmt::format("effio-mpi: {}; see effio-mpi --help\n",
                                no_benchmark("benchmark", words[0])));
        return ExitCode::usage;
    }
    say(stdout, json_lines(describe_benchmark(*benchmark)) + "\n");
    return ExitCode::done;
}

/// What `BENCHMARK … --plan-json` says, in one line.
Json planned(const Words& words) {
    const std::string name = words.empty() ? "" : words.front();
    const auto benchmark = find_benchmark(name);
    const auto refusal = [](const Error& error) {
        return Json{{"code", static_cast<int>(error.exit_code)}, {"error", error.text()}};
    };
    if (!benchmark) return refusal(usage_error(no_benchmark("benchmark", name)));
    JobOptions options;
    OptionTable table = table_of(*benchmark, options);
    if (auto status = table.parse(std::span(words).subspan(1)); !status) {
        return refusal(status.error());
    }
    if (auto status = benchmark->check(); !status) return refusal(status.error());
    auto data = plan_data(*benchmark, options);
    if (!data) return refusal(data.error());
    return {{"code", static_cast<int>(ExitCode::done)}, {"plan", std::move(*data)}};
}

constexpr const char* usage_of_plans =
    "Usage: effio-mpi plans < LINES\n\n"
    "Each line of stdin is a command line as a JSON list of words, e.g.\n"
    "  [\"ior\", \"--block=1GiB\", \"--plan-ranks=8\"]\n"
    "Prints a line of JSON for each: \"code\", an exit code, with \"plan\" (as --plan-json prints\n"
    "it) or, if it is not 0, \"error\". Nothing is run.\n";

/// `plans`: a campaign of thousands of points starts one program for them, not one for each.
ExitCode plans(std::istream& lines) {
    lines.tie(nullptr);  // not a call of the system for each answer
    std::int64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const Json words = parse_json(line);
        const bool are_words =
            words.is_array() && std::all_of(words.begin(), words.end(),
                                            [](const Json& word) { return word.is_string(); });
        if (!are_words) {
            say(stderr,
                fmt::format("effio-mpi plans: line {} of stdin is not a JSON list of words\n",
                            number));
            return ExitCode::usage;
        }
        say(stdout, json_line(planned(words.get<Words>())) + "\n");
    }
    return ExitCode::done;
}

/// Runs a benchmark whose options are given in our own style.
ExitCode run_benchmark(Benchmark& benchmark, const Words& words, const Invocation& invocation) {
    JobOptions options;
    OptionTable table = table_of(benchmark, options);
    for (const auto& word : words) {
        if (word == "--help" || word == "-h" || word == "--help-all") {
            say(stdout, table.help(word == "--help-all"));
            return ExitCode::done;
        }
    }
    auto status = table.parse(words);
    if (status) status = benchmark.check();
    if (!status) {
        const std::string called = invocation.classic.empty()
                                       ? fmt::format("effio-mpi {}", benchmark.name())
                                       : invocation.classic.front();
        return refuse(stderr, status.error(),
                      fmt::format("{}: {}\nTry: {} --help\n", called,
                                  invocation.worded(status.error().text()), called));
    }
    if (options.plan || options.plan_json) return print_plan(benchmark, options);
    return run_job(benchmark, options, table, invocation);
}

/// Options of ours for a classic run: what the environment says, and before all `-O effio.x=y` of
/// the command line, which are taken out of `words`.
std::map<std::string, std::string> own_options(const ClassicProgram& program, Words& words) {
    std::map<std::string, std::string> own{{"watchdog", classic_watchdog}};
    for (const auto& [option, variable] : program.wording) {
        const char* value = variable.starts_with("EFFIO_") && option != "--result"
                                ? std::getenv(variable.c_str())
                                : nullptr;
        if (value != nullptr && *value != '\0') own[option.substr(2)] = value;
    }
    constexpr std::string_view prefix = "effio.";
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (words[i] != "-O") continue;
        std::string rest;
        std::istringstream list(words[i + 1]);
        for (std::string item; std::getline(list, item, ',');) {
            if (!item.starts_with(prefix)) {
                rest += (rest.empty() ? "" : ",") + item;
                continue;
            }
            const auto equals = std::min(item.find('='), item.size());
            own[item.substr(prefix.size(), equals - prefix.size())] =
                item.substr(std::min(equals + 1, item.size()));
        }
        words[i + 1] = rest;
        if (!rest.empty()) continue;
        const auto at = words.begin() + static_cast<std::ptrdiff_t>(i--);
        words.erase(at, at + 2);
    }
    return own;
}

std::string help_on_own_options(const ClassicProgram& program) {
    std::string text =
        "\neffio's own, from the environment:\n"
        "  EFFIO_WATCHDOG   aborts a run after this long without progress (0: never) [10min]\n"
        "  EFFIO_RESULT     the result file, or the directory for it [the working directory]\n";
    if (program.wording.end() !=
        std::find_if(program.wording.begin(), program.wording.end(),
                     [](const auto& word) { return word.ours == "--max-bytes"; })) {
        text += "  EFFIO_MAX_BYTES  refuses a run whose files need more than that\n";
    }
    if (program.name == "ior") {
        text += "  -O effio.X=Y     any option --X of effio-mpi ior\n";
    }
    return text;
}

ExitCode run_classic(const ClassicProgram& program, const Words& line) {
    Words words = line;
    Words of_run;
    Words of_benchmark;
    JobOptions job;
    OptionTable job_table("", "");
    job.declare(job_table);
    const Json job_names = job_table.values();
    for (const auto& [name, value] : own_options(program, words)) {
        (job_names.contains(name) ? of_run : of_benchmark)
            .push_back(value.empty() ? "--" + name : fmt::format("--{}={}", name, value));
    }
    auto translated = program.translate(words, of_benchmark);
    if (!translated) {
        // The originals print their complaints and help on stdout.
        return refuse(stdout, translated.error(),
                      Invocation{{}, {}, program.wording}.worded(translated.error().cause));
    }
    if (translated->help) translated->message += help_on_own_options(program);
    if (!translated->message.empty()) say(stdout, translated->message);
    if (!translated->benchmark) return translated->code;
    auto& arguments = translated->arguments;
    arguments.insert(arguments.end(), of_run.begin(), of_run.end());
    Words own{"effio-mpi", std::string(translated->benchmark->name())};
    own.insert(own.end(), translated->arguments.begin(), translated->arguments.end());
    Words original{program.name};
    original.insert(original.end(), line.begin(), line.end());
    return run_benchmark(*translated->benchmark, arguments, {own, original, program.wording});
}

ExitCode dispatch(const std::string& called_as, Words words) {
    if (const auto* program = find_classic(called_as)) return run_classic(*program, words);
    if (words.empty()) {
        say(stderr, overview());
        return ExitCode::usage;
    }
    const std::string command = words.front();
    Words all{"effio-mpi"};
    all.insert(all.end(), words.begin(), words.end());
    words.erase(words.begin());
    if (asks_for_help(command)) {
        say(stdout, overview());
        return ExitCode::done;
    }
    if (command == "version" || command == "--version") {
        say(stdout, json_lines(describe_build()) + "\n");
        return ExitCode::done;
    }
    if (command == "list") {
        for (const auto make : benchmark_registry()) {
            say(stdout, std::string(make()->name()) + "\n");
        }
        return ExitCode::done;
    }
    if (command == "classic-names") {
        for (const auto& program : classic_programs()) say(stdout, program.name + "\n");
        return ExitCode::done;
    }
    if (command == "describe" && !words.empty() && asks_for_help(words.front())) {
        say(stdout,
            "Usage: effio-mpi describe [BENCHMARK | backends | results [BENCHMARK]]\n\n"
            "Prints as JSON: the options of a benchmark (without a name, of all), the backends "
            "with\n"
            "their settings, or every member of the result files.\n");
        return ExitCode::done;
    }
    if (command == "describe") return describe(words);
    if (command == "plans" && !words.empty()) {
        say(asks_for_help(words.front()) ? stdout : stderr, usage_of_plans);
        return asks_for_help(words.front()) ? ExitCode::done : ExitCode::usage;
    }
    if (command == "plans") {
        if (::isatty(STDIN_FILENO) != 0) say(stderr, usage_of_plans);
        return speaks() ? plans(std::cin) : ExitCode::done;
    }
    if (command == "together") return together::run_command(words);
    if (command == "sion") return speaks() ? sion::run_command(words) : ExitCode::done;
    if (command == "classic") {
        if (!words.empty() && asks_for_help(words.front())) {
            say(stdout,
                "Usage: mpiexec -n RANKS effio-mpi classic PROGRAM [options of the original]\n\n" +
                    classic_names());
            return ExitCode::done;
        }
        const auto* program = words.empty() ? nullptr : find_classic(words.front());
        if (program == nullptr) {
            std::string names;
            for (const auto& p : classic_programs()) names += " " + p.name;
            const std::string what =
                words.empty() ? "name a program" : fmt::format("no program '{}'", words.front());
            say(stderr, fmt::format("effio-mpi classic: {}: one of{}\n", what, names));
            return ExitCode::usage;
        }
        words.erase(words.begin());
        return run_classic(*program, words);
    }
    const auto benchmark = find_benchmark(command);
    if (!benchmark) {
        say(stderr, fmt::format("effio-mpi: {}; see effio-mpi --help\n",
                                no_benchmark("benchmark or command", command)));
        return ExitCode::usage;
    }
    return run_benchmark(*benchmark, words, {all, {}, {}});
}

}  // namespace
}  // namespace effio

int main(int argc, char** argv) {
    effio::block_stop_signals();
    // A reader that goes away must not end the job; writing to it just fails.
    std::signal(SIGPIPE, SIG_IGN);
    const std::string called_as = std::filesystem::path(argv[0]).filename();
    return static_cast<int>(
        effio::dispatch(called_as, std::vector<std::string>(argv + 1, argv + argc)));
}
