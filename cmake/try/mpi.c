/* What a program of this MPI alone loads; a library may add no other MPI to it. */
#include <mpi.h>

int main(int argc, char** argv) {
    return MPI_Init(&argc, &argv);
}
