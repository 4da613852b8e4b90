// SPDX-License-Identifier: BSD-3-Clause
// What `effio-mpi ior` is compared with (bare_files.hpp). Prints "write RATE" and "read RATE" in
// bytes per second.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bare_files.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4) {
        std::fprintf(stderr, "bare_ior DIRECTORY TRANSFER BLOCK\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bare::Files files(std::strtol(argv[2], nullptr, 10), std::strtol(argv[3], nullptr, 10));
    const std::string path = std::string(argv[1]) + "/bare." + std::to_string(rank);
    const double write = files.write(path);
    const double read = files.read(path);
    if (rank == 0) std::printf("write %.0f\nread %.0f\n", write, read);
    ::unlink(path.c_str());
    MPI_Finalize();
    return 0;
}
