// SPDX-License-Identifier: BSD-3-Clause
// mdtest's files in one directory without the engine: the same calls in the same order between the
// same barriers, and nothing else (bench/mdtest.py).
//
//   bare_mdtest DIRECTORY FILES-PER-RANK     one line a phase: name operations/s
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct Bench {
    std::string directory;
    long files = 0;
    int rank = 0;
    int ranks = 1;
    long failed = 0;

    template <class Call>
    void phase(const char* name, Call&& call) {
        const std::string stem = directory + "/file.mdtest." + std::to_string(rank) + ".";
        std::string path;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (long i = 0; i < files; ++i) {
            path = stem;
            path += std::to_string(i);
            if (!call(path.c_str())) ++failed;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        double seconds = MPI_Wtime() - start;
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0) {
            std::printf("%s %.9g\n", name, static_cast<double>(files * ranks) / seconds);
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Bench b;
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    if (argc == 3) {
        b.directory = argv[1];
        b.files = std::strtol(argv[2], nullptr, 10);
        b.phase("create", [](const char* path) {
            const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            return fd >= 0 && close(fd) == 0;
        });
        b.phase("stat", [](const char* path) {
            struct stat info{};
            return lstat(path, &info) == 0;
        });
        b.phase("remove", [](const char* path) { return unlink(path) == 0; });
    }
    MPI_Allreduce(MPI_IN_PLACE, &b.failed, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return b.failed == 0 ? 0 : 1;
}
