// SPDX-License-Identifier: BSD-3-Clause
// Bare pwrite and pread loops: each rank writes a new file, or reads one, from a barrier before the
// first call to the last rank's end, without open and close.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "core/buffer.hpp"

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
    Files(long transfer, long block)
        : bytes_(transfer),
          calls_(block / transfer),
          data_(static_cast<std::size_t>(period + transfer)) {
        std::memset(data_.bytes().data(), 'x', data_.size());
    }

    /// Rates of all ranks in bytes per second; `path` is this rank's.
    double write(const std::string& path) {
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666);
        return timed(fd, [fd, memory = data_.bytes().data(), size = size()](long offset) {
            return ::pwrite(fd, memory + offset % period, size, offset);
        });
    }
    double read(const std::string& path) {
        effio::Buffer buffer(size());
        const int fd = ::open(path.c_str(), O_RDONLY);
        return timed(fd, [fd, memory = buffer.bytes().data(), size = size()](long offset) {
            return ::pread(fd, memory, size, offset);
        });
    }

  private:
    /// Another page for each call, as any data that are not all the same need it; the engine's kind
    /// of memory, since the kernel copies from and to whole pages faster.
    static constexpr long period = 1 << 20;

    std::size_t size() const { return static_cast<std::size_t>(bytes_); }

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
    long calls_;
    effio::Buffer data_;
};

}  // namespace bare
