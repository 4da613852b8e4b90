// SPDX-License-Identifier: BSD-3-Clause
// Bare pwrite and pread loops: each rank writes a new file, or reads one, from a barrier before the
// first call to the last rank's end, without open and close. The file may be one of all ranks, each
// at its own place.
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

    /// `first`: where this rank's bytes begin in its file.
    Files(long transfer, long block, long first = 0)
        : bytes_(transfer),
          size_(static_cast<std::size_t>(transfer)),
          calls_(block / transfer),
          first_(first) {}

    /// Rates of all ranks in bytes per second; `path` is this rank's file; `data_at(offset)`
    /// returns a transfer.
    template <class DataAt>
    double write(const std::string& path, DataAt&& data_at) {
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666);
        return timed(fd, [&, fd, size = size_, first = first_](long offset) {
            return ::pwrite(fd, data_at(offset), size, first + offset);
        });
    }
    /// A file that is open; closes it. `data` are `period` and a transfer long.
    double write_into(int fd, const std::byte* data) {
        return timed(fd, [fd, data, size = size_, first = first_](long offset) {
            return ::pwrite(fd, data + offset % period, size, first + offset);
        });
    }
    double read(const std::string& path, std::byte* memory) {
        const int fd = ::open(path.c_str(), O_RDONLY);
        return timed(fd, [fd, memory, size = size_, first = first_](long offset) {
            return ::pread(fd, memory, size, first + offset);
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
    long first_;
};

}  // namespace bare
