# The MPI in use, as the imported target effio_mpi, through its C API only.
#
# find_package(MPI) runs the compiler wrapper; -DMPI_C_COMPILER=… chooses one. Cray's `cc` is its own
# wrapper. The C++ bindings, which some wrappers still drag in, are kept out.
set(MPI_DETERMINE_LIBRARY_VERSION TRUE)
# Where several MPIs live side by side, `mpiexec` may belong to another one than the compiler: prefer the
# launcher that came with it (mpicc.mpich -> mpiexec.mpich).
if(MPI_C_COMPILER)
  cmake_path(GET MPI_C_COMPILER PARENT_PATH effio_mpi_bin)
  cmake_path(GET MPI_C_COMPILER FILENAME effio_mpiexec)
  string(REPLACE "mpicc" "mpiexec" effio_mpiexec "${effio_mpiexec}")
  set(effio_mpiexec "${effio_mpi_bin}/${effio_mpiexec}")
  if(NOT effio_mpiexec STREQUAL MPI_C_COMPILER AND EXISTS "${effio_mpiexec}" AND
      (NOT MPIEXEC_EXECUTABLE OR MPIEXEC_EXECUTABLE STREQUAL "${effio_mpi_bin}/mpiexec"))
    set(MPIEXEC_EXECUTABLE "${effio_mpiexec}" CACHE FILEPATH "Starts MPI programs" FORCE)
  endif()
endif()
find_package(MPI REQUIRED COMPONENTS C)
add_library(effio_mpi INTERFACE)
target_link_libraries(effio_mpi INTERFACE MPI::MPI_C)
target_compile_definitions(effio_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
if(MPI_C_VERSION AND MPI_C_VERSION VERSION_LESS 3.1)
  message(FATAL_ERROR "MPI 3.1 or later is needed; ${MPI_C_COMPILER} has ${MPI_C_VERSION}.")
endif()
string(REGEX REPLACE "[\r\n].*" "" effio_mpi_library "${MPI_C_LIBRARY_VERSION_STRING}")
string(REPLACE "\t" " " effio_mpi_library "${effio_mpi_library}")
# A quote or backslash would break the generated header.
string(REGEX REPLACE "[\"\\\\]" "'" effio_mpi_library "${effio_mpi_library}")
message(STATUS "MPI: ${effio_mpi_library}")
