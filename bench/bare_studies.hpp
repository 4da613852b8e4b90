// SPDX-License-Identifier: BSD-3-Clause
// What studies do without the engine: one MPI-IO call through a view, pwrite and pread at scattered
// places, small files one after the other. All are timed from a barrier to the last rank's end.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bare_files.hpp"

namespace bare {

inline void must(bool good) {
    if (!good) MPI_Abort(MPI_COMM_WORLD, 3);
}

/// Rate of all ranks over `work`, bytes per second.
template <class Work>
double timed(long bytes, Work&& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    work();
    return rate_of(MPI_Wtime() - start, bytes);
}

/// A shared file that this rank moves by one call from and to consecutive memory.
class Viewed {
  public:
    /// Commits `type`, the piece of the file; `bytes` are in it.
    Viewed(MPI_Datatype type, int bytes) : type_(type), bytes_(bytes) { MPI_Type_commit(&type_); }
    Viewed(const Viewed&) = delete;
    Viewed& operator=(const Viewed&) = delete;
    ~Viewed() { MPI_Type_free(&type_); }

    double write(const std::string& path, const std::byte* data) {
        return visit(path, MPI_MODE_RDWR | MPI_MODE_CREATE, [&](MPI_File file, MPI_Status& moved) {
            return MPI_File_write_at(file, 0, data, bytes_, MPI_BYTE, &moved);
        });
    }
    double read(const std::string& path, std::byte* memory) {
        return visit(path, MPI_MODE_RDONLY, [&](MPI_File file, MPI_Status& moved) {
            return MPI_File_read_at(file, 0, memory, bytes_, MPI_BYTE, &moved);
        });
    }

  private:
    template <class Call>
    double visit(const std::string& path, int mode, Call&& call) {
        MPI_File file = MPI_FILE_NULL;
        must(MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, MPI_INFO_NULL, &file) ==
             MPI_SUCCESS);
        must(MPI_File_set_view(file, 0, MPI_BYTE, type_, "native", MPI_INFO_NULL) == MPI_SUCCESS);
        const double rate = timed(bytes_, [&] {
            MPI_Status moved{};
            must(call(file, moved) == MPI_SUCCESS);
            int bytes = 0;
            MPI_Get_count(&moved, MPI_BYTE, &bytes);
            must(bytes == bytes_);
        });
        MPI_File_close(&file);
        return rate;
    }

    MPI_Datatype type_;
    int bytes_;
};

/// Tile (y, x) of 2-D tiles of `rows` x `columns` elements side by side.
inline MPI_Datatype tile_type(int rank, std::pair<int, int> grid, int rows, int columns,
                              int element) {
    const std::array sizes{grid.first * rows, grid.second * columns};
    const std::array part{rows, columns};
    const std::array start{rank / grid.second * rows, rank % grid.second * columns};
    MPI_Datatype cell = MPI_DATATYPE_NULL;
    MPI_Datatype tile = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(element, MPI_BYTE, &cell);
    MPI_Type_create_subarray(2, sizes.data(), part.data(), start.data(), MPI_ORDER_C, cell, &tile);
    MPI_Type_free(&cell);
    return tile;
}

/// Groups of `inner` pieces `within` apart, `outer` groups `between` apart, from `first` on.
inline MPI_Datatype nested_type(MPI_Aint first, int piece, std::pair<int, MPI_Aint> inner,
                                std::pair<int, MPI_Aint> outer) {
    MPI_Datatype group = MPI_DATATYPE_NULL;
    MPI_Datatype all = MPI_DATATYPE_NULL;
    MPI_Datatype placed = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(inner.first, piece, inner.second, MPI_BYTE, &group);
    MPI_Type_create_hvector(outer.first, 1, outer.second, group, &all);
    MPI_Type_create_hindexed_block(1, 1, &first, all, &placed);
    MPI_Type_free(&group);
    MPI_Type_free(&all);
    return placed;
}

/// A file of this rank, moved in pieces at places that are known before.
class Scattered {
  public:
    Scattered(long piece, std::vector<long> places)
        : size_(static_cast<std::size_t>(piece)), places_(std::move(places)) {}

    /// `data_at(place)` returns the piece to write there.
    template <class DataAt>
    double write(const std::string& path, DataAt&& data_at) {
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0666);
        return each(fd, [&, fd, size = size_](long place) {
            return ::pwrite(fd, data_at(place), size, place);
        });
    }
    double read(const std::string& path, std::byte* memory) {
        const int fd = ::open(path.c_str(), O_RDONLY);
        return each(fd, [=, size = size_](long place) { return ::pread(fd, memory, size, place); });
    }

  private:
    template <class Call>
    double each(int fd, Call&& call) {
        const auto piece = static_cast<long>(size_);
        const double rate = timed(piece * static_cast<long>(places_.size()), [&] {
            for (const long place : places_) must(call(place) == piece);
        });
        ::close(fd);
        return rate;
    }

    std::size_t size_;
    std::vector<long> places_;
};

/// Small files, each opened, moved by one call and closed.
class Small {
  public:
    Small(std::vector<std::string> paths, long bytes)
        : paths_(std::move(paths)), size_(static_cast<std::size_t>(bytes)) {}

    /// `data_of(n)` returns the contents of file n.
    template <class DataOf>
    double write(DataOf&& data_of) {
        return each(O_RDWR | O_CREAT, [&, size = size_](int fd, std::size_t n) {
            return ::pwrite(fd, data_of(n), size, 0);
        });
    }
    double read(std::byte* memory) {
        return each(O_RDONLY, [=, size = size_](int fd, std::size_t /*n*/) {
            return ::pread(fd, memory, size, 0);
        });
    }

  private:
    template <class Call>
    double each(int flags, Call&& call) {
        const auto bytes = static_cast<long>(size_);
        return timed(bytes * static_cast<long>(paths_.size()), [&] {
            for (std::size_t n = 0; n < paths_.size(); ++n) {
                const int fd = ::open(paths_[n].c_str(), flags, 0666);
                must(call(fd, n) == bytes);
                must(::close(fd) == 0);
            }
        });
    }

    std::vector<std::string> paths_;
    std::size_t size_;
};

}  // namespace bare
