// SPDX-License-Identifier: BSD-3-Clause
// A bare pwrite/pread loop: each rank writes a new file of its own and reads it back; both passes
// are timed from a barrier before the first call to the last rank's end, without open and close.
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

struct Rates {
    double write = 0;
    double read = 0;
};

class Files {
  public:
    Files(std::string path, long transfer, long block)
        : path_(std::move(path)),
          bytes_(transfer),
          calls_(block / transfer),
          buffer_(static_cast<std::size_t>(period + transfer)) {
        std::memset(buffer_.bytes().data(), 'x', buffer_.size());
    }

    Rates measure() {
        std::byte* memory = buffer_.bytes().data();
        const auto size = static_cast<std::size_t>(bytes_);
        Rates rates;
        const int out = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666);
        rates.write = timed(
            [&](long offset) { return ::pwrite(out, memory + offset % period, size, offset); });
        ::close(out);
        const int in = ::open(path_.c_str(), O_RDONLY);
        rates.read = timed([&](long offset) { return ::pread(in, memory, size, offset); });
        ::close(in);
        ::unlink(path_.c_str());
        return rates;
    }

  private:
    /// Another page for each call, as any data that are not all the same need it; the engine's kind
    /// of memory, since the kernel copies from and to whole pages faster.
    static constexpr long period = 1 << 20;

    template <class Call>
    double timed(Call&& call) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (long i = 0; i < calls_; ++i) {
            if (call(i * bytes_) != bytes_) MPI_Abort(MPI_COMM_WORLD, 3);
        }
        return rate_of(MPI_Wtime() - start, calls_ * bytes_);
    }

    std::string path_;
    long bytes_;
    long calls_;
    effio::Buffer buffer_;
};

}  // namespace bare
