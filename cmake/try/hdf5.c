#include <mpi.h>

#include <hdf5.h>
#ifndef H5_HAVE_PARALLEL
#error "this HDF5 is not parallel"
#endif

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    return H5Pset_fapl_mpio(H5Pcreate(H5P_FILE_ACCESS), MPI_COMM_WORLD, MPI_INFO_NULL) < 0;
}
