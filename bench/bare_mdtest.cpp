// SPDX-License-Identifier: BSD-3-Clause
// The bare loops of bare_names.hpp as a program of its own (bench/mdtest.py).
//
//   bare_mdtest DIRECTORY FILES-PER-RANK     one line a phase: name operations/s
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "bare_names.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3) {
        std::fprintf(stderr, "bare_mdtest DIRECTORY FILES-PER-RANK\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bare::Names names(argv[1], std::strtol(argv[2], nullptr, 10));
    const double create = names.create();
    const double stat = names.stat();
    const double remove = names.remove();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("create %.9g\nstat %.9g\nremove %.9g\n", create, stat, remove);
    long failed = names.failed();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed == 0 ? 0 : 1;
}
