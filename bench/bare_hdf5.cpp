// SPDX-License-Identifier: BSD-3-Clause
// The library calls of one point of the library comparison through HDF5, without the engine: nine
// datasets, written and read collectively. What effio-mpi delivers is compared with it
// (bench/libraries.py).
//
//   bare_hdf5 FILE EDGE REPETITIONS     prints "write SECONDS" and "read SECONDS", the means
#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int variables = 9;

template <class Code>
Code need(Code code) {
    if (code < 0) std::exit(1);
    return code;
}

double slowest(double seconds) {
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

struct Cube {
    hsize_t all[4];
    hsize_t start[4];
    hsize_t count[4];
    std::size_t cells;
};

/// Moves every dataset and closes the file; the spaces are those of the file and of memory.
template <class Open, class Move>
double move_all(hid_t file, const Cube& cube, double begin, Open&& open, Move&& move) {
    const hid_t transfer = need(H5Pcreate(H5P_DATASET_XFER));
    need(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
    const hid_t space = need(H5Screate_simple(4, cube.all, nullptr));
    const hid_t memory = need(H5Screate_simple(4, cube.count, nullptr));
    hid_t sets[variables];
    for (int v = 0; v < variables; ++v) {
        sets[v] = need(open(file, ("var" + std::to_string(v + 1)).c_str(), space));
    }
    for (int v = 0; v < variables; ++v) {
        need(H5Sselect_hyperslab(space, H5S_SELECT_SET, cube.start, nullptr, cube.count, nullptr));
        need(move(sets[v], memory, space, transfer, static_cast<std::size_t>(v) * cube.cells));
    }
    for (const hid_t set : sets) need(H5Dclose(set));
    need(H5Fclose(file));
    const double seconds = MPI_Wtime() - begin;
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(transfer);
    return slowest(seconds);
}

hid_t shared_access() {
    const hid_t access = need(H5Pcreate(H5P_FILE_ACCESS));
    need(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    return access;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4) return 2;
    const auto edge = static_cast<hsize_t>(std::strtoll(argv[2], nullptr, 10));
    const int repetitions = static_cast<int>(std::strtol(argv[3], nullptr, 10));
    const Cube cube{{static_cast<hsize_t>(ranks), edge, edge, edge},
                    {static_cast<hsize_t>(rank), 0, 0, 0},
                    {1, edge, edge, edge},
                    edge * edge * edge};
    std::vector<double> data(variables * cube.cells);
    const hid_t creation = need(H5Pcreate(H5P_DATASET_CREATE));
    need(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
    double written = 0;
    double read = 0;
    for (int r = 0; r < repetitions; ++r) {
        for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i) + r;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        hid_t access = shared_access();
        hid_t file = need(H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access));
        written += move_all(
                       file, cube, begin,
                       [&](hid_t f, const char* name, hid_t space) {
                           return H5Dcreate2(f, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                             creation, H5P_DEFAULT);
                       },
                       [&](hid_t set, hid_t memory, hid_t space, hid_t how, std::size_t at) {
                           return H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, how, &data[at]);
                       }) /
                   repetitions;
        H5Pclose(access);
        std::fill(data.begin(), data.end(), 0.0);
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        access = shared_access();
        file = need(H5Fopen(argv[1], H5F_ACC_RDONLY, access));
        read += move_all(
                    file, cube, begin,
                    [](hid_t f, const char* name, hid_t) { return H5Dopen2(f, name, H5P_DEFAULT); },
                    [&](hid_t set, hid_t memory, hid_t space, hid_t how, std::size_t at) {
                        return H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, how, &data[at]);
                    }) /
                repetitions;
        H5Pclose(access);
        if (rank == 0) std::remove(argv[1]);
    }
    H5Pclose(creation);
    if (rank == 0) std::printf("write %.9f\nread %.9f\n", written, read);
    MPI_Finalize();
    return 0;
}
