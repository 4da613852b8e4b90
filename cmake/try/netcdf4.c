#include <mpi.h>

#include <netcdf.h>
#include <netcdf_meta.h>
#include <netcdf_par.h>
#if !NC_HAS_PARALLEL4
#error "this NetCDF has no parallel NetCDF-4"
#endif

int main(int argc, char** argv) {
    int file;
    MPI_Init(&argc, &argv);
    return nc_create_par(argv[0], NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file);
}
