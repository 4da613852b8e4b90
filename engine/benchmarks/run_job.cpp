// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/run_job.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "parallel/sentinel.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

/// MPI from MPI_Init to MPI_Finalize. The sentinel's thread makes no MPI call, like the threads
/// that MPI libraries start themselves. MPI_THREAD_FUNNELED would make Open MPI lock in every call
/// (a sixth of an 8-byte message in memory), which no program that is measured against does.
class MpiRun {
  public:
    MpiRun() { MPI_Init(nullptr, nullptr); }
    MpiRun(const MpiRun&) = delete;
    MpiRun& operator=(const MpiRun&) = delete;
    ~MpiRun() { finalize(); }
    void finalize() {
        if (!std::exchange(finalized_, true)) MPI_Finalize();
    }

  private:
    bool finalized_ = false;
};

/// The sentinel from before MPI is started until there is a session: ranks that never come, or a
/// file system that does not answer, end the job with words instead of hanging.
class SetUpWatch {
  public:
    SetUpWatch(Progress& progress, std::atomic<bool>& stop, const Sentinel::Settings& settings)
        : session_(clock_, nobody_, progress, results_, console_, stop) {
        session_.world_rank = launcher_rank().value_or(0);
        session_.host = find_uname().node;
        Progress::Step step;
        step.title = "set-up";
        progress.begin(step);
        progress.call("MPI_Init");
        sentinel_.emplace(session_, stop, settings);
    }
    void end() { sentinel_.reset(); }

  private:
    Clock clock_;
    Comm nobody_ = Comm::none(clock_);
    Results results_;
    Console console_{false, false};
    Session session_;
    std::optional<Sentinel> sentinel_;
};

/// On a classic command line the benchmark runs wherever the original would, if need be without a
/// result file.
Result<std::unique_ptr<Results>> open_results(const Comm& comm, const Benchmark& benchmark,
                                              const JobOptions& options,
                                              const Invocation& invocation) {
    const std::string name(benchmark.name());
    if (invocation.classic.empty() || !options.result.empty()) {
        return Results::open(comm, options.result, name);
    }
    std::vector<std::string> places;
    const char* given = std::getenv("EFFIO_RESULT");
    if (given != nullptr && *given != '\0') places.emplace_back(given);
    places.emplace_back();  // the working directory
    const char* temporary = std::getenv("TMPDIR");
    places.push_back((temporary != nullptr && *temporary != '\0' ? temporary : "/tmp") +
                     std::string("/"));
    auto results = Results::open_somewhere(comm, places, name);
    if (comm.is_root() && !results->remark().empty()) {
        fmt::print(stderr, "effio-mpi: {}\n", results->remark());
    }
    return results;
}

/// The end of the process, beside which the sentinel still stands.
void leave_mpi(MpiRun& mpi, Session& session, Comm& comm, ExitCode code) {
    session.finished = code;
    Progress::Step step;
    step.title = "leave MPI";
    session.progress.begin(step);
    session.progress.call("MPI_Finalize");
    // The root has written everything before it comes here.
    if (comm.max(session.left_open ? std::int64_t{1} : std::int64_t{0}) > 0) leave(code);
    {
        const Comm freed = std::move(comm);
    }
    mpi.finalize();
}

Json run_header(const Benchmark& benchmark, const OptionTable& table, const Invocation& invocation,
                const Session& session, const Topology& topology) {
    Json header;
    header["benchmark"] = benchmark.name();
    header["started"] = utc_now();
    header["engine"] = describe_build();
    header["command"] = invocation.arguments;
    header["classic_command"] =
        invocation.classic.empty() ? Json(nullptr) : Json(invocation.classic);
    header["options"] = table.values();
    header["clock"] = Json{{"virtual", session.clock.is_virtual()},
                           {"resolution_seconds", session.clock.resolution()}};
    header["system"] = describe_system(session.comm, topology);
    return header;
}

/// Seconds until the bytes of this step are moved, if it goes on as until now; nothing if unknown.
std::optional<double> left_in_step(const Progress::Snapshot& s, double in_step) {
    if (s.step.planned_bytes <= 0 || s.bytes_in_step <= 0) return {};
    const auto left =
        static_cast<double>(std::max<std::int64_t>(s.step.planned_bytes - s.bytes_in_step, 0));
    double seconds = left * in_step / static_cast<double>(s.bytes_in_step);
    if (s.step.scheduled_seconds > 0) {
        seconds = std::min(seconds, std::max(s.step.scheduled_seconds - in_step, 0.0));
    }
    return seconds;
}

/// The live view in one line: what is done now, how fast, and how long it will still take.
std::string status_text(const Progress::Snapshot& s) {
    if (s.step_started <= 0) return fmt::format("[  0 %] set-up ({})", s.call);
    const double in_step = Clock::monotonic_seconds() - s.step_started;
    const double rate =
        in_step > 0 ? static_cast<double>(s.bytes_in_step) * s.step.ranks / in_step : 0;
    std::string text = fmt::format("[{:3.0f} %] {}", 100 * s.step.plan_done, s.step.title);
    if (s.step.scheduled_seconds > 0) {
        text += fmt::format(", {:.0f} of {} scheduled", in_step,
                            format_duration(s.step.scheduled_seconds));
    } else {
        text += fmt::format(", {:.0f} s", in_step);
    }
    if (s.bytes_in_step > 0) text += fmt::format(", about {}", format_rate(rate));
    if (const auto left = left_in_step(s, in_step); left) {
        text += fmt::format(", {} of {}, {} left in it",
                            format_size(static_cast<double>(s.bytes_in_step) * s.step.ranks),
                            format_size(static_cast<double>(s.step.planned_bytes) * s.step.ranks),
                            format_duration(*left));
    }
    if (s.step.plan_seconds_left > 0) {
        text += fmt::format(", {} planned to go", format_duration(s.step.plan_seconds_left));
    }
    return text + fmt::format(" ({})", s.call);
}

std::string status_json(const Progress::Snapshot& s) {
    return Json{
        {"effio_progress", Json{{"title", s.step.title},
                                {"path", s.step.path},
                                {"call", s.call},
                                {"step_seconds", Clock::monotonic_seconds() - s.step_started},
                                {"step_scheduled_seconds", s.step.scheduled_seconds},
                                {"step_bytes", s.bytes_in_step * s.step.ranks},
                                {"step_planned_bytes", s.step.planned_bytes * s.step.ranks},
                                {"plan_done_fraction", s.step.plan_done},
                                {"plan_seconds_left", s.step.plan_seconds_left}}}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The sentinel's `show`: nothing, a line replaced each second, or lines in a log.
std::function<void(const Progress::Snapshot&)> make_show(const std::string& mode,
                                                         Console& console) {
    if (mode == "none") return {};
    if (mode == "json") {
        return [&console](const Progress::Snapshot& s) { console.status(status_json(s)); };
    }
    if (mode == "line") {
        return [&console](const Progress::Snapshot& s) { console.status(status_text(s)); };
    }
    constexpr int log_every = 10;  // ticks of a second: a log is read later
    return [&console, tick = 0](const Progress::Snapshot& s) mutable {
        if (++tick % log_every == 0) console.status(status_text(s));
    };
}

std::string progress_mode(const JobOptions& options) {
    if (options.progress != "auto") return options.progress;
    if (options.quiet) return "none";
    return isatty(STDERR_FILENO) != 0 ? "line" : "log";
}

/// The job is not what its launcher meant it to be: every process believes to be alone.
bool launched_apart(int size) {
    const auto meant = launcher_size();
    return meant && *meant > 1 && size == 1;
}

/// `initialised`: Clock::monotonic_seconds just after MPI was.
ExitCode run_in_session(Benchmark& benchmark, const JobOptions& options, const OptionTable& table,
                        const Invocation& invocation, Session& session, double initialised) {
    Topology topology = find_topology(session.comm);
    std::unique_ptr<SimRoom> room;
    if (session.clock.is_virtual()) {
        auto made = SimRoom::create(session.comm);
        if (!made) {
            if (session.comm.is_root()) {
                fmt::print(stderr, "effio-mpi: {}\n", made.error().text());
            }
            return made.error().exit_code;
        }
        room = std::move(*made);
    }
    bool announced = false;
    const auto announce = [&](Json extra) {
        Json header = run_header(benchmark, table, invocation, session, topology);
        header["watchdog_seconds"] = options.watchdog.count;
        header["setup_seconds"] = Clock::monotonic_seconds() - initialised;
        for (auto& [key, value] : extra.items()) header[key] = std::move(value);
        session.results.recorder().run(std::move(header));
        announced = true;
    };
    Job job{session, topology, room.get(), announce};
    Ending ending;
    try {
        ending = benchmark.run(job);
    } catch (const std::bad_alloc&) {
        Error error = session.signed_error(
            environment_error("allocate memory", "not enough memory for the buffers of this run"));
        end_job(session, {ExitCode::environment, error.text(), {error}, {}});
    }
    if (!announced) announce(Json::object());
    if (session.results.failed()) {
        ending.status = graver(ending.status, ExitCode::results);
        if (ending.reason.empty()) ending.reason = "the result file could not be written";
    }
    // All ranks leave with the same code, because launchers combine codes differently.
    auto code = static_cast<int>(ending.status);
    session.comm.broadcast(code);
    End end;
    end.status = static_cast<ExitCode>(code);
    end.reason = ending.reason;
    end.errors = ending.errors;
    end.detail = ending.detail;
    end.detail["finished"] = utc_now();
    session.results.recorder().end(end);
    if (session.comm.is_root() && end.status != ExitCode::done) {
        session.console.print("");  // clears a status line
        fmt::print(stderr, "effio-mpi: {}: {}\n", name(end.status), invocation.worded(end.reason));
    }
    // The `end` line says how the measurement ended; that it lies elsewhere, or nowhere, is said
    // by the code alone, because that line may be the one for which there was no room.
    if (session.results.moved() || session.results.failed()) {
        code = static_cast<int>(graver(end.status, ExitCode::results));
    }
    session.comm.broadcast(code);
    return static_cast<ExitCode>(code);
}

}  // namespace

std::string Invocation::worded(std::string text) const {
    for (const auto& [ours, theirs] : wording) {
        for (std::size_t at = 0; (at = text.find(ours, at)) != std::string::npos;) {
            const std::size_t end = at + ours.size();
            const char next = end < text.size() ? text[end] : ' ';
            if (next == '-' || std::isalnum(static_cast<unsigned char>(next)) != 0) {
                at = end;  // the begin of another option's name
                continue;
            }
            text.replace(at, ours.size(), theirs);
            at += theirs.size();
        }
    }
    return text;
}

void JobOptions::declare(OptionTable& table) {
    table.group("Run");
    table
        .add("result", result,
             "result file, or directory for it; an existing file is never overwritten")
        .letter('o')
        .metavar("PATH")
        .automatic("effio-<benchmark>-<UTC>.jsonl here");
    table.flag("quiet", quiet, "no tables and no progress, only errors");
    table
        .add("progress", progress,
             "live view on stderr: a line that changes, lines in a log, or JSON for programs")
        .choices({"auto", "line", "log", "json", "none"});
    table
        .add("watchdog", watchdog,
             "end the job after this long without progress, beyond what slow storage may need; 0 = "
             "never")
        .range(0, 1e9);
    table
        .add("agree-deadline", agree_deadline,
             "how long a rank that saw an error waits for the others before it ends the job")
        .range(0.1, 1e6)
        .expert();
    table.group("Plan");
    table.flag("plan", plan, "print what would be done, and do nothing");
    table.flag("plan-json", plan_json, "the same as JSON");
    table.add("plan-ranks", plan_ranks, "ranks to plan for")
        .range(1, 2147483647)
        .automatic("as launched");
    table.add("plan-ranks-per-node", plan_ranks_per_node, "ranks on a node to plan for")
        .range(1, 2147483647)
        .automatic("all");
    table.add("plan-rate", plan_rate, "rate that storage or network is assumed to deliver in all")
        .range(1, 1e18);
}

ExitCode print_plan(const Benchmark& benchmark, const JobOptions& options) {
    PlanInput input;
    input.ranks = static_cast<int>(options.plan_ranks.value_or(launcher_size().value_or(1)));
    input.ranks_per_node = static_cast<int>(options.plan_ranks_per_node.value_or(input.ranks));
    input.rate = options.plan_rate.count;
    const auto plan = benchmark.plan(input);
    if (launcher_rank().value_or(0) != 0) return plan ? ExitCode::done : plan.error().exit_code;
    if (!plan) {
        fmt::print(stderr, "effio-mpi {}: {}\n", benchmark.name(), plan.error().text());
        return plan.error().exit_code;
    }
    std::string text = plan->text;
    if (options.plan_json) {
        Json data = plan->data;
        data["needed_directories"] = benchmark.needed_directories();
        text = data.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    std::fputs(text.c_str(), stdout);
    return ExitCode::done;
}

ExitCode run_job(Benchmark& benchmark, const JobOptions& options, const OptionTable& table,
                 const Invocation& invocation) {
    Progress progress;
    std::atomic<bool> stop{false};
    Sentinel::Settings settings;
    settings.hang_limit_seconds = options.watchdog.count;
    settings.hang_limit_name = invocation.worded(settings.hang_limit_name);
    SetUpWatch set_up(progress, stop, settings);
    MpiRun mpi;
    const double initialised = Clock::monotonic_seconds();
    progress.call("find the other ranks");
    Clock clock(benchmark.virtual_time() ? Clock::Kind::virtual_time : Clock::Kind::real);
    Comm comm = Comm::world(clock);
    if (launched_apart(comm.size())) {
        fmt::print(stderr,
                   "effio-mpi: the launcher started {} processes, but each believes to be alone: "
                   "the launcher belongs to another MPI than this program ({})\n",
                   *launcher_size(), mpi_library());
        return ExitCode::environment;
    }
    progress.call("create the result file");
    auto results = open_results(comm, benchmark, options, invocation);
    if (!results) {
        if (comm.is_root()) fmt::print(stderr, "effio-mpi: {}\n", results.error().text());
        return results.error().exit_code;
    }
    const std::string mode = progress_mode(options);
    Console console(comm.is_root() && !options.quiet, mode == "line");
    Session session{clock, comm, progress, **results, console, stop};
    session.world_rank = comm.rank();
    session.host = find_uname().node;
    session.agree_deadline_seconds = options.agree_deadline.count;
    session.classic = !invocation.classic.empty();

    set_up.end();
    if (comm.is_root()) settings.show = make_show(mode, console);
    const Sentinel sentinel(session, stop, std::move(settings));
    const ExitCode code =
        run_in_session(benchmark, options, table, invocation, session, initialised);
    leave_mpi(mpi, session, comm, code);
    return code;
}

}  // namespace effio
