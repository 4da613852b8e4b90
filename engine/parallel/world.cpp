// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/world.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <utility>

#include "parallel/system.hpp"

namespace effio {
namespace {

/// No one waits for MPI_Finalize as for storage: nothing is lost without it. MPICH over UCX and TCP
/// hangs there in every third job of four nodes.
double most_seconds_to_leave(int ranks) {
    return 10 + 1e-3 * ranks;
}

}  // namespace

MpiRun::MpiRun() {
    MPI_Init(nullptr, nullptr);
}

void MpiRun::finalize() {
    if (!std::exchange(finalized_, true)) MPI_Finalize();
}

SetUpWatch::SetUpWatch(Progress& progress, std::atomic<bool>& stop,
                       const Sentinel::Settings& settings)
    : session_(clock_, nobody_, progress, results_, console_, stop) {
    session_.world_rank = launcher_rank().value_or(0);
    session_.host = find_uname().node;
    Progress::Step step;
    step.title = "set-up";
    progress.begin(step);
    progress.call("MPI_Init");
    Sentinel::Settings alone = settings;
    alone.speaks_first = session_.world_rank == 0;
    sentinel_.emplace(session_, stop, std::move(alone));
}

World::World(const Sentinel::Settings& settings)
    : set_up_(progress_, stop_, settings), readings_{read_tick_clocks(), {}} {
    readings_.after_mpi = read_tick_clocks();
    progress_.call("find the other ranks");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

Status World::check() const {
    const auto meant = launcher_size();
    if (!meant || *meant <= 1 || size_ > 1) return {};
    return environment_error(
        "", fmt::format("the launcher started {} processes, but each believes to be alone: the "
                        "launcher belongs to another MPI than this program ({})",
                        *meant, mpi_library()));
}

void World::call_off(ExitCode code) {
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
    effio::leave(code);  // MPI_Abort does not return
}

ExitCode World::leave(Session& session, Comm& comm, ExitCode code, Gathering* gathering) {
    session.finished = code;
    bool left_open = session.left_open;
    if (gathering != nullptr) {
        const auto whole = gathering->finish(session, code);
        code = whole.code;
        left_open = whole.left_open;
        session.finished = code;
        gathering->release();
    }
    Progress::Step step;
    step.title = "leave MPI";
    session.progress.begin(step);
    session.progress.call("MPI_Finalize");
    // The root has written everything before it comes here.
    if (comm.max(left_open ? std::int64_t{1} : std::int64_t{0}) > 0) effio::leave(code);
    step.limit_seconds = most_seconds_to_leave(size_);
    session.progress.begin(step);
    {
        const Comm freed = std::move(comm);
    }
    mpi_.finalize();
    return code;
}

}  // namespace effio
