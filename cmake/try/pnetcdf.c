#include <mpi.h>

#include <pnetcdf.h>

int main(int argc, char** argv) {
    int file;
    MPI_Init(&argc, &argv);
    return ncmpi_create(MPI_COMM_WORLD, argv[0], NC_64BIT_DATA, MPI_INFO_NULL, &file);
}
