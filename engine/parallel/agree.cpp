// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/agree.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <thread>

#include "parallel/mpi_comm.hpp"

namespace effio {
namespace {

int severity(ExitCode code) {
    int g = 0;
    for (const auto& row : exit_codes()) {
        if (worse(code, row.code) == code) ++g;
    }
    return g;  // 1 = done, higher is more severe
}

/// Error <-> text, for the one broadcast of the failing rank's words.
std::string pack(const Error& e) {
    Json j = to_json(e);
    j["code"] = static_cast<int>(e.exit_code);
    return json_line(j);
}

Error unpack(const std::string& text) {
    const Json j = parse_json(text);
    Error e;
    e.exit_code = static_cast<ExitCode>(j["code"].get<int>());
    e.operation = j["operation"];
    e.cause = j["cause"];
    if (j["path"].is_string()) e.path = j["path"];
    if (j["offset_bytes"].is_number()) e.offset = j["offset_bytes"].get<std::int64_t>();
    if (j["errno"].is_number()) e.system_code = j["errno"];
    if (j["mpi_class"].is_number()) e.mpi_class = j["mpi_class"];
    if (j["rank"].is_number()) e.rank = j["rank"];
    if (j["host"].is_string()) e.host = j["host"];
    return e;
}

void wait_at_most(Session& session, const Outcome& mine, std::span<MPI_Request> requests) {
    if (!mine.error) {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        return;
    }
    const double deadline = Clock::monotonic_seconds() + session.agree_deadline_seconds;
    while (true) {
        int done = 0;
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
        if (done != 0) return;
        if (Clock::monotonic_seconds() > deadline) break;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    End end;
    end.status = mine.error->exit_code;
    end.errors = {session.signed_error(*mine.error)};
    end.reason = fmt::format(
        "{}; other ranks did not answer within {:g} s (they hang in the same or "
        "a later call)",
        end.errors[0].text(), session.agree_deadline_seconds);
    end_job(session, end);
}

}  // namespace

Agreed agree(Session& session, const Comm& comm, const Outcome& mine) {
    session.progress.wait("agree");
    // The worst error wins, then the lowest rank: both fit one maximum.
    const int g = mine.error ? severity(mine.error->exit_code) : 0;
    const std::int64_t bid =
        g == 0 ? 0 : (static_cast<std::int64_t>(g) << 32) + (INT32_MAX - comm.rank());
    std::array<std::int64_t, 2> highest{bid, mine.interrupted ? 1 : 0};
    std::int64_t errors = mine.error_count;
    std::array<MPI_Request, 2> requests{};
    MPI_Iallreduce(MPI_IN_PLACE, highest.data(), 2, MPI_INT64_T, MPI_MAX, raw(comm),
                   requests.data());
    MPI_Iallreduce(MPI_IN_PLACE, &errors, 1, MPI_INT64_T, MPI_SUM, raw(comm), &requests[1]);
    wait_at_most(session, mine, requests);
    comm.join_clocks(session.clock.collective_cost());

    Agreed agreed;
    agreed.error_count = errors;
    agreed.interrupted = highest[1] != 0;
    if (highest[0] != 0) {
        const auto speaker = static_cast<int>(INT32_MAX - (highest[0] & 0xffffffff));
        std::string text;
        if (comm.rank() == speaker) text = pack(session.signed_error(*mine.error));
        comm.broadcast(text, speaker);
        agreed.error = unpack(text);
    }
    session.progress.beat();
    return agreed;
}

}  // namespace effio
