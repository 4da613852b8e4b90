// SPDX-License-Identifier: BSD-3-Clause
#include "frame/job/group.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "frame/job/live_view.hpp"
#include "frame/job/results.hpp"
#include "parallel/agree.hpp"
#include "parallel/node_clocks.hpp"
#include "parallel/recorded_environment.hpp"
#include "parallel/system.hpp"
#include "storage/run_marks.hpp"

namespace effio {
namespace {

/// A directory that the group has to itself, so that the files of groups do not meet. The root
/// makes it, and removes it if nothing is left in it; at an end that is not orderly, whoever ends
/// the job does.
class OwnDirectory {
  public:
    /// Collective.
    OwnDirectory(Session& session, std::string path)
        : path_(std::move(path)),
          is_root_(session.comm.is_root()),
          at_abrupt_end_(session, [this] { remove(); }) {
        int made = 0;
        if (is_root_ && mkdir(path_.c_str(), 0777) == 0) {
            made = 1;
        } else if (is_root_ && errno != EEXIST) {
            mine_.fail(system_error("cannot create the directory of this group", path_, errno));
        }
        session.comm.broadcast(made);
        made_ = made != 0;
    }
    OwnDirectory(const OwnDirectory&) = delete;
    OwnDirectory& operator=(const OwnDirectory&) = delete;
    ~OwnDirectory() {
        if (is_root_) remove();
    }
    const Outcome& outcome() const { return mine_; }

  private:
    void remove() const {
        if (made_) (void)rmdir(path_.c_str());  // what was kept keeps it
    }
    std::string path_;
    bool is_root_;
    std::atomic<bool> made_{false};
    Outcome mine_;
    AtAbruptEnd at_abrupt_end_;
};

Ending run_and_unmark(const GroupRun& task, Job& job) {
    Ending ending = task.benchmark.run(job);
    if (job.session.comm.is_root()) job.marks->remove();
    return ending;
}

Ending run_in_place(const GroupRun& task, Job& job) {
    if (task.own_directory.empty()) return run_and_unmark(task, job);
    Session& session = job.session;
    const OwnDirectory own(session, task.own_directory);
    const auto agreed = agree(session, session.comm, own.outcome());
    return agreed.failed() ? Ending::from(*agreed.error) : run_and_unmark(task, job);
}

}  // namespace

Json run_header(const GroupRun& task, const Comm& comm, const Topology& topology, Json clock) {
    Json header;
    header["benchmark"] = task.benchmark.name();
    header["started"] = utc_now();
    header["engine"] = describe_build();
    header["command"] = masked_arguments(task.invocation.arguments);
    header["classic_command"] =
        task.invocation.classic.empty() ? Json(nullptr) : masked_arguments(task.invocation.classic);
    header["options"] = masked_arguments(task.table.values());
    header["clock"] = std::move(clock);
    header["system"] = describe_system(comm, topology);
    header["watchdog_seconds"] = task.options.watchdog.count;
    if (task.gathering != nullptr) {
        const auto& others = task.gathering->neighbors();
        header["group"] = Json{
            {"number", others.number()}, {"of", others.count()}, {"first_rank", task.first_rank}};
    }
    return header;
}

namespace {

void print_reason(Session& session, const GroupRun& task, ExitCode status,
                  const std::string& reason) {
    if (!session.comm.is_root()) return;
    session.console.print("");  // clears a status line
    fmt::print(stderr, "effio-mpi: {}{}: {}\n", session.speaker(), name(status),
               task.invocation.worded(reason));
}

/// The end of a run that did nothing because its options do not fit.
RunEnd refused(Session& session, const GroupRun& task, const std::string& reason) {
    print_reason(session, task, ExitCode::usage, reason);
    return {ExitCode::usage, reason};
}

}  // namespace

RunEnd run_task(const GroupRun& task, Session& session, const World& world) {
    Topology topology = find_topology(session.comm);
    session.nodes = topology.nodes;
    std::unique_ptr<SimRoom> room;
    if (session.clock.is_virtual()) {
        auto made = SimRoom::create(session.comm);
        if (!made) {
            if (session.comm.is_root()) {
                fmt::print(stderr, "effio-mpi: {}\n", made.error().text());
            }
            return {made.error().exit_code, made.error().text()};
        }
        room = std::move(*made);
    }
    session.progress.wait("compare the clocks of nodes");
    NodeClocks clocks(session.comm, topology, world.readings(), task.options.clock);
    const Json clock = clocks.at_begin();
    bool announced = false;
    RunMarks marks(session);
    const auto announce = [&](Json extra) {
        if (!announced && extra.contains("manifest")) marks.make(extra["manifest"]);
        Json header = run_header(task, session.comm, topology, clock);
        header["setup_seconds"] = Clock::monotonic_seconds() - world.initialised();
        for (auto& [key, value] : extra.items()) header[key] = std::move(value);
        session.results.recorder().run(std::move(header));
        if (announced) return;
        announced = true;
        if (task.gathering != nullptr && !task.again) task.gathering->start(session);
        double here = session.clock.now();
        double& start = task.start != nullptr ? *task.start : here;
        if (!task.again) start = here;
        session.results.recorder().starts(session.clock, start);
    };
    Job job{session, topology, room.get(), announce, &marks};
    Ending ending;
    try {
        ending = run_in_place(task, job);
    } catch (const std::bad_alloc&) {
        Error error = session.signed_error(
            environment_error("allocate memory", "not enough memory for the buffers of this run"));
        end_job(session, {ExitCode::environment, error.text(), {error}, Json::object()});
    }
    // All ranks leave with the same code, because launchers combine codes differently.
    auto status = static_cast<int>(ending.status);
    session.comm.broadcast(status);
    // Groups that start together wait for each other, so there each one leaves a result.
    if (!announced && static_cast<ExitCode>(status) == ExitCode::usage &&
        task.gathering == nullptr && !task.again) {
        session.results.discard();
        return refused(session, task, ending.reason);
    }
    if (!announced) announce(Json::object());
    if (session.neighbors != nullptr && ending.status == ExitCode::interrupted) {
        std::string cause = session.comm.is_root() ? session.neighbors->cause() : "";
        if (!cause.empty()) ending.reason = std::move(cause);
    }
    if (session.results.failed()) {
        ending.status = worse(ending.status, ExitCode::results);
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
    session.progress.wait("compare the clocks of nodes");
    clocks.note_end(end.detail, session.speaker());
    end.detail["finished"] = utc_now();
    session.results.recorder().end(end);
    // A further run that is stopped has done what it was for.
    const bool worth_reporting =
        end.status != ExitCode::done && !(task.again && end.status == ExitCode::interrupted);
    if (worth_reporting) print_reason(session, task, end.status, end.reason);
    // The `end` line says how the measurement ended; that it is elsewhere, or nowhere, is said
    // by the code alone, because that line may be the one for which there was no room.
    if (session.results.moved() || session.results.failed()) {
        code = static_cast<int>(worse(end.status, ExitCode::results));
    }
    session.comm.broadcast(code);
    return {static_cast<ExitCode>(code), end.reason};
}

Sentinel::Settings sentinel_settings(const GroupRun& task) {
    Sentinel::Settings settings;
    settings.hang_limit_seconds = task.options.watchdog.count;
    settings.hang_limit_name = task.invocation.worded(settings.hang_limit_name);
    return settings;
}

WatchedSession::WatchedSession(World& world, Comm& comm, const GroupRun& task, Results& results)
    : live_(live_view(task.options)),
      console_(comm.is_root() && !task.options.quiet, live_ == Live::line),
      session_{comm.clock(), comm,     world.progress(),
               results,      console_, task.stop != nullptr ? *task.stop : world.stop()} {
    session_.world_rank = world.rank();
    session_.host = find_uname().node;
    session_.agree_deadline_seconds = task.options.agree_deadline.count;
    session_.classic = !task.invocation.classic.empty();
    session_.neighbors = task.gathering == nullptr ? nullptr : &task.gathering->neighbors();
    session_.cap_share = task.cap_share;
    session_.ranks_of_others = task.ranks_of_others;

    world.set_up_done();
    Sentinel::Settings settings = sentinel_settings(task);
    settings.speaks_first = comm.is_root();
    if (comm.is_root()) {
        settings.show = make_show(live_, console_);
        settings.look = task.look;
    }
    sentinel_.emplace(session_, task.stop != nullptr ? *task.stop : world.stop(),
                      std::move(settings));
}

ExitCode run_group(World& world, Comm& comm, const GroupRun& task) {
    Gathering* const gathering = task.gathering;
    world.progress().call("create the result file");
    auto results = open_results(comm, task.benchmark, task.options, task.invocation);
    if (!results) {
        if (comm.is_root()) fmt::print(stderr, "effio-mpi: {}\n", results.error().text());
        if (gathering == nullptr) return results.error().exit_code;
    }
    if (gathering != nullptr) {
        const ExitCode code =
            gathering->worst(results ? ExitCode::done : results.error().exit_code);
        if (code != ExitCode::done) {
            // Nothing is started, so nothing is left of the result files of the others.
            if (results && comm.is_root()) unlink((*results)->path().c_str());
            return code;
        }
    }
    WatchedSession watched(world, comm, task, **results);
    Session& session = watched.session();
    const RunEnd end = run_task(task, session, world);
    if (session.neighbors != nullptr && comm.is_root()) {
        session.neighbors->end(end.code, end.reason);
    }
    return world.leave(session, comm, end.code, gathering);
}

}  // namespace effio
