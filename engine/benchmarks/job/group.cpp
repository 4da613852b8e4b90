// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/job/group.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "benchmarks/job/live_view.hpp"
#include "benchmarks/job/results.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

Json run_header(const Task& task, const Session& session, const Topology& topology) {
    Json header;
    header["benchmark"] = task.benchmark.name();
    header["started"] = utc_now();
    header["engine"] = describe_build();
    header["command"] = task.invocation.arguments;
    header["classic_command"] =
        task.invocation.classic.empty() ? Json(nullptr) : Json(task.invocation.classic);
    header["options"] = task.table.values();
    header["clock"] = Json{{"virtual", session.clock.is_virtual()},
                           {"resolution_seconds", session.clock.resolution()}};
    header["system"] = describe_system(session.comm, topology);
    return header;
}

/// `initialised`: Clock::monotonic_seconds just after MPI was.
ExitCode run_in_session(const Task& task, Session& session, double initialised) {
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
        Json header = run_header(task, session, topology);
        header["watchdog_seconds"] = task.options.watchdog.count;
        header["setup_seconds"] = Clock::monotonic_seconds() - initialised;
        for (auto& [key, value] : extra.items()) header[key] = std::move(value);
        session.results.recorder().run(std::move(header));
        announced = true;
    };
    Job job{session, topology, room.get(), announce};
    Ending ending;
    try {
        ending = task.benchmark.run(job);
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
        fmt::print(stderr, "effio-mpi: {}: {}\n", name(end.status),
                   task.invocation.worded(end.reason));
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

Sentinel::Settings sentinel_settings(const Task& task) {
    Sentinel::Settings settings;
    settings.hang_limit_seconds = task.options.watchdog.count;
    settings.hang_limit_name = task.invocation.worded(settings.hang_limit_name);
    return settings;
}

ExitCode run_group(World& world, Comm& comm, const Task& task) {
    world.progress().call("create the result file");
    auto results = open_results(comm, task.benchmark, task.options, task.invocation);
    if (!results) {
        if (comm.is_root()) fmt::print(stderr, "effio-mpi: {}\n", results.error().text());
        return results.error().exit_code;
    }
    const std::string mode = progress_mode(task.options);
    Console console(comm.is_root() && !task.options.quiet, mode == "line");
    Session session{comm.clock(), comm, world.progress(), **results, console, world.stop()};
    session.world_rank = world.rank();
    session.host = find_uname().node;
    session.agree_deadline_seconds = task.options.agree_deadline.count;
    session.classic = !task.invocation.classic.empty();

    world.set_up_done();
    Sentinel::Settings settings = sentinel_settings(task);
    if (comm.is_root()) settings.show = make_show(mode, console);
    const Sentinel sentinel(session, world.stop(), std::move(settings));
    const ExitCode code = run_in_session(task, session, world.initialised());
    world.leave(session, comm, code);
    return code;
}

}  // namespace effio
