// SPDX-License-Identifier: BSD-3-Clause
// A bare ping-pong: what b_eff's "one PingPong Pair" and the ring benchmark's pairs are compared
// with. Rank 0 sends, rank 1 answers; nothing else is in the loop. Messages are placed one behind
// the other, cyclically in SPAN bytes, as b_eff places them; SPAN = BYTES keeps them in one place.
//
//   bare_ping_pong BYTES LOOPS MEASUREMENTS SPAN
//
// One round trip that is not timed, then LOOPS timed ones, so often as measurements are wanted.
// Prints the seconds of one message of each measurement.
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "core/buffer.hpp"

namespace {

constexpr std::size_t alignment = 8;

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 5) {
        std::fprintf(stderr, "bare_ping_pong BYTES LOOPS MEASUREMENTS SPAN\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const std::size_t bytes = std::strtoul(argv[1], nullptr, 10);
    const long loops = std::strtol(argv[2], nullptr, 10);
    const long measurements = std::strtol(argv[3], nullptr, 10);
    const std::size_t span = std::strtoul(argv[4], nullptr, 10);
    {
        // The engine's kind of memory, each page of it there before anything is timed.
        effio::Buffer out(span);
        effio::Buffer in(span);
        const int count = static_cast<int>(bytes);
        std::size_t position = 0;
        const auto place = [&] {
            if (position + bytes > span) position = 0;
            const std::size_t here = position;
            position += (bytes + alignment - 1) / alignment * alignment;
            return here;
        };
        const auto send = [&] {
            MPI_Send(out.bytes().data() + place(), count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        };
        const auto receive = [&] {
            MPI_Recv(in.bytes().data() + place(), count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        };
        const auto round_trip = [&] {
            if (rank == 0) {
                send();
                receive();
            } else {
                receive();
                send();
            }
        };
        for (long m = 0; m < measurements; ++m) {
            MPI_Barrier(MPI_COMM_WORLD);
            round_trip();
            const double start = MPI_Wtime();
            for (long i = 0; i < loops; ++i) round_trip();
            const double seconds = MPI_Wtime() - start;
            if (rank == 0) std::printf("%.9g\n", seconds / (2 * static_cast<double>(loops)));
        }
    }
    MPI_Finalize();
    return 0;
}
