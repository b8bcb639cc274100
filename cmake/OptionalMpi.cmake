# -DPNMF_MPI=ON: `mpirun -n 4 pnmf fit …` divides the cells over several processes. Needs an MPI, such as Debian's
# libopenmpi-dev and openmpi-bin. OFF (default) costs nothing and needs nothing. Adds the target pnmf_mpi, which the
# program links; the libraries know of it by src/cells/processes.hpp alone.
option(PNMF_MPI "Build the program for several processes (MPI)" OFF)
if(NOT PNMF_MPI)
    return()
endif()
set(MPI_CXX_SKIP_MPICXX ON) # the C interface is all that is used
find_package(MPI REQUIRED COMPONENTS CXX)
