// SPDX-License-Identifier: BSD-3-Clause
// The library calls of one point of the library comparison through PnetCDF, without the engine:
// nine variables, written and read collectively. What effio-mpi delivers is compared with it
// (bench/libraries.py).
//
//   bare_pnetcdf FILE EDGE REPETITIONS     prints "write SECONDS" and "read SECONDS", the means
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int variables = 9;

void need(int code) {
    if (code == NC_NOERR) return;
    std::fprintf(stderr, "%s\n", ncmpi_strerror(code));
    std::exit(1);
}

double slowest(double seconds) {
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

struct Cube {
    std::vector<MPI_Offset> start;
    std::vector<MPI_Offset> count;
    MPI_Offset cells;
};

double write_file(const char* path, MPI_Offset edge, int ranks, const Cube& cube,
                  const std::vector<double>& data) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    int id = 0;
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &id));
    int dims[4];
    need(ncmpi_def_dim(id, "process", ranks, &dims[0]));
    need(ncmpi_def_dim(id, "z", edge, &dims[1]));
    need(ncmpi_def_dim(id, "y", edge, &dims[2]));
    need(ncmpi_def_dim(id, "x", edge, &dims[3]));
    int ids[variables];
    for (int v = 0; v < variables; ++v) {
        need(ncmpi_def_var(id, ("var" + std::to_string(v + 1)).c_str(), NC_DOUBLE, 4, dims,
                           &ids[v]));
    }
    need(ncmpi_enddef(id));
    for (int v = 0; v < variables; ++v) {
        need(ncmpi_put_vara_all(id, ids[v], cube.start.data(), cube.count.data(),
                                data.data() + v * cube.cells, cube.cells, MPI_DOUBLE));
    }
    need(ncmpi_close(id));
    return slowest(MPI_Wtime() - begin);
}

double read_file(const char* path, const Cube& cube, std::vector<double>& data) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    int id = 0;
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &id));
    for (int v = 0; v < variables; ++v) {
        int variable = 0;
        need(ncmpi_inq_varid(id, ("var" + std::to_string(v + 1)).c_str(), &variable));
        need(ncmpi_get_vara_all(id, variable, cube.start.data(), cube.count.data(),
                                data.data() + v * cube.cells, cube.cells, MPI_DOUBLE));
    }
    need(ncmpi_close(id));
    return slowest(MPI_Wtime() - begin);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4) return 2;
    const MPI_Offset edge = std::strtoll(argv[2], nullptr, 10);
    const int repetitions = static_cast<int>(std::strtol(argv[3], nullptr, 10));
    const Cube cube{{rank, 0, 0, 0}, {1, edge, edge, edge}, edge * edge * edge};
    std::vector<double> data(static_cast<std::size_t>(variables * cube.cells));
    double written = 0;
    double read = 0;
    for (int r = 0; r < repetitions; ++r) {
        for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i) + r;
        written += write_file(argv[1], edge, ranks, cube, data) / repetitions;
        std::fill(data.begin(), data.end(), 0.0);
        read += read_file(argv[1], cube, data) / repetitions;
        if (rank == 0) std::remove(argv[1]);
    }
    if (rank == 0) std::printf("write %.9f\nread %.9f\n", written, read);
    MPI_Finalize();
    return 0;
}
