// SPDX-License-Identifier: BSD-3-Clause
// Bare pwrite and pread loops: each rank writes a new file, or reads one, from a barrier before the
// first call to the last rank's end, without open and close.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace bare {

/// Of all ranks, in bytes per second.
inline double rate_of(double seconds, long bytes) {
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return static_cast<double>(ranks) * static_cast<double>(bytes) / seconds;
}

class Files {
  public:
    /// Data repeat: another page for each call, as any that are not all the same need it.
    static constexpr long period = 1 << 20;

    Files(long transfer, long block)
        : bytes_(transfer), size_(static_cast<std::size_t>(transfer)), calls_(block / transfer) {}

    /// Rates of all ranks in bytes per second; `path` is this rank's, `data` are `period` and a
    /// transfer long.
    double write(const std::string& path, const std::byte* data) {
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666);
        return timed(fd, [fd, data, size = size_](long offset) {
            return ::pwrite(fd, data + offset % period, size, offset);
        });
    }
    double read(const std::string& path, std::byte* memory) {
        const int fd = ::open(path.c_str(), O_RDONLY);
        return timed(fd, [fd, memory, size = size_](long offset) {
            return ::pread(fd, memory, size, offset);
        });
    }

  private:
    /// Closes the file when the time is taken.
    template <class Call>
    double timed(int fd, Call&& call) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (long i = 0; i < calls_; ++i) {
            if (call(i * bytes_) != bytes_) MPI_Abort(MPI_COMM_WORLD, 3);
        }
        const double seconds = MPI_Wtime() - start;
        ::close(fd);
        return rate_of(seconds, calls_ * bytes_);
    }

    long bytes_;
    std::size_t size_;
    long calls_;
};

}  // namespace bare
