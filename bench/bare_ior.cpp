// SPDX-License-Identifier: BSD-3-Clause
// A bare pwrite/pread loop: what `effio-mpi ior` is compared with. Each rank writes a new file of
// its own and reads it back; both passes are timed from a barrier before the first call to the last
// rank's end, without open and close. Prints "write RATE" and "read RATE" in bytes per second.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/buffer.hpp"

namespace {

template <class Call>
double rate_of(long calls, long bytes, Call&& call) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (long i = 0; i < calls; ++i) {
        if (call(i * bytes) != bytes) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return static_cast<double>(ranks) * static_cast<double>(calls * bytes) / seconds;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4) {
        std::fprintf(stderr, "bare_ior DIRECTORY TRANSFER BLOCK\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const std::string path = std::string(argv[1]) + "/bare." + std::to_string(rank);
    const long bytes = std::strtol(argv[2], nullptr, 10);
    const long calls = std::strtol(argv[3], nullptr, 10) / bytes;
    // Another page for each call, as any data that are not all the same need it; the engine's kind
    // of memory, since the kernel copies from and to whole pages faster.
    constexpr long period = 1 << 20;
    effio::Buffer buffer(static_cast<std::size_t>(period + bytes));
    std::byte* memory = buffer.bytes().data();
    std::memset(memory, 'x', buffer.size());
    const auto place = [&](long offset) { return memory + offset % period; };
    const auto size = static_cast<std::size_t>(bytes);

    const int out = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666);
    const double write =
        rate_of(calls, bytes, [&](long at) { return ::pwrite(out, place(at), size, at); });
    ::close(out);
    const int in = ::open(path.c_str(), O_RDONLY);
    const double read =
        rate_of(calls, bytes, [&](long at) { return ::pread(in, memory, size, at); });
    ::close(in);
    ::unlink(path.c_str());
    if (rank == 0) std::printf("write %.0f\nread %.0f\n", write, read);
    MPI_Finalize();
    return 0;
}
