// SPDX-License-Identifier: BSD-3-Clause
// Jobs that cannot end in an orderly way: endings MODE RESULT-FILE. expect_ending.sh judges them.
//   hung             rank 1 stops giving signs of life
//   awaited          the same, and rank 0, which would speak first, only waits for it
//   waiting          rank 1 waits for a rank without a watchdog
//   deadline         rank 1 knows an error and the others never come to agree on it
//   second-interrupt rank 0 is interrupted twice
//   clean-ups        the same while its files change: what is to be removed is never half known
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "parallel/agree.hpp"
#include "parallel/results.hpp"
#include "parallel/sentinel.hpp"

namespace effio {
namespace {

[[noreturn]] void sleep_forever() {
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

/// One file after another, as the tests of a classic ior command line have them.
[[noreturn]] void change_files_forever(Session& session, const std::string& path) {
    for (int i = 0;; ++i) {
        const std::string more = path + "." + std::to_string(i);
        const AtAbruptEnd clean_up(session, [&more] { ::unlink(more.c_str()); });
    }
}

int run(const std::string& mode, const std::string& path) {
    Clock clock;
    Comm comm = Comm::world(clock);
    Progress progress;
    Console console(false, false);
    auto results = Results::open(comm, path, "endings");
    if (!results) return 99;
    std::atomic<bool> stop{false};
    Session session{clock, comm, progress, **results, console, stop};
    session.world_rank = comm.rank();
    session.host = "here";
    session.agree_deadline_seconds = 0.3;
    const std::string made = path + ".data" + std::to_string(comm.rank());
    std::ofstream(made) << "x";
    const AtAbruptEnd clean_up(session, [&] { ::unlink(made.c_str()); });
    comm.barrier();

    Sentinel::Settings settings;
    const bool watched = mode == "hung" || mode == "waiting" ? comm.rank() == 1 : mode == "awaited";
    settings.hang_limit_seconds = watched ? 0.3 : 0;
    settings.speaks_first = comm.is_root();
    const Sentinel sentinel(session, stop, settings);
    progress.begin({"write scatter", "/d/f", 0, 0, 0, 0, comm.size()});
    progress.call("MPI_File_sync");
    const bool waits = mode == "waiting" || (mode == "awaited" && comm.is_root());
    if (waits) progress.wait("agree");
    if ((mode == "second-interrupt" || mode == "clean-ups") && comm.is_root()) {
        kill(getpid(), SIGINT);
        while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        kill(getpid(), SIGINT);
        if (mode == "clean-ups") change_files_forever(session, made);
    }
    if (mode == "deadline" && comm.rank() == 1) {
        Outcome mine;
        mine.fail(io_error("MPI_File_sync", "/d/f", "no space"));
        (void)agree(session, comm, mine);
    }
    sleep_forever();
}

}  // namespace
}  // namespace effio

int main(int argc, char** argv) {
    if (argc != 3) return 98;
    effio::block_stop_signals();
    MPI_Init(nullptr, nullptr);
    return effio::run(argv[1], argv[2]);
}
