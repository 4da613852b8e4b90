// SPDX-License-Identifier: BSD-3-Clause
// What `effio-mpi ior` is compared with (bare_files.hpp). Prints "write RATE" and "read RATE" in
// bytes per second.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bare_files.hpp"
#include "core/buffer.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4) {
        std::fprintf(stderr, "bare_ior DIRECTORY TRANSFER BLOCK\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const long transfer = std::strtol(argv[2], nullptr, 10);
    bare::Files files(transfer, std::strtol(argv[3], nullptr, 10));
    // The engine's kind of memory, since the kernel copies from and to whole pages faster.
    effio::Buffer data(static_cast<std::size_t>(bare::Files::period + transfer));
    std::memset(data.bytes().data(), 'x', data.size());
    effio::Buffer memory(static_cast<std::size_t>(transfer));
    const std::string path = std::string(argv[1]) + "/bare." + std::to_string(rank);
    const double write = files.write(path, data.bytes().data());
    const double read = files.read(path, memory.bytes().data());
    if (rank == 0) std::printf("write %.0f\nread %.0f\n", write, read);
    ::unlink(path.c_str());
    MPI_Finalize();
    return 0;
}
