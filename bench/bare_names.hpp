// SPDX-License-Identifier: BSD-3-Clause
// mdtest's files in one directory without the engine: the same calls in the same order between the
// same barriers, and nothing else.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace bare {

class Names {
  public:
    /// `files` of each rank.
    Names(std::string directory, long files) : directory_(std::move(directory)), files_(files) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }

    /// Of all ranks, in operations per second.
    double create() {
        return phase([](const char* path) {
            const int fd = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            return fd >= 0 && ::close(fd) == 0;
        });
    }
    double stat() {
        return phase([](const char* path) {
            struct stat info{};
            return ::lstat(path, &info) == 0;
        });
    }
    double remove() {
        return phase([](const char* path) { return ::unlink(path) == 0; });
    }
    /// Calls of this rank.
    long failed() const { return failed_; }

  private:
    template <class Call>
    double phase(Call&& call) {
        const std::string stem = directory_ + "/file.mdtest." + std::to_string(rank_) + ".";
        std::string path;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (long i = 0; i < files_; ++i) {
            path = stem;
            path += std::to_string(i);
            if (!call(path.c_str())) ++failed_;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        double seconds = MPI_Wtime() - start;
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return static_cast<double>(files_ * ranks_) / seconds;
    }

    std::string directory_;
    long files_;
    int rank_ = 0;
    int ranks_ = 1;
    long failed_ = 0;
};

}  // namespace bare
