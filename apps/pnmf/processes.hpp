#pragma once

#include <pnmf/solvers/solver.hpp>

#include <string>

/// The processes that mpirun or srun started together: `pnmf fit` divides its cells over them. A build
/// without MPI has one, and refuses to be one of several.
namespace pnmf::cli {

/// Joins the others, where there are any. InputError where the program was started several times over by a
/// launcher that it cannot reach, or where the verb is not made for several ranks. Ranks other than the first
/// say nothing from here on.
void begin_ranks(const std::string& verb);

/// InputError where there are several ranks and the algorithm is not made for them.
void check_divided(Algorithm algorithm);

/// Whether this is the rank that says and writes things.
bool is_host();

/// When something was thrown: whether all ranks end alike. If not, this one speaks from here on.
bool ranks_end_together();

/// Ends the other ranks too, with the exit code of this one. Nothing happens where there are none.
void end_all_ranks(int code);

/// Leaves the others, at the end of the program.
void leave_ranks();

} // namespace pnmf::cli
