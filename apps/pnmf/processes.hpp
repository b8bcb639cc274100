#pragma once

#include <pnmf/solvers/solver.hpp>

#include <string>

/// The processes that mpirun or srun started together: `pnmf fit` shares its cells out to them. A build
/// without MPI has one, and refuses to be one of several.
namespace pnmf::cli {

/// Joins the others, where there are any. InputError where the program was started several times over by a
/// launcher that it cannot reach, or where the verb is not made for several processes. Processes other than
/// the first say nothing from here on.
void begin_processes(const std::string& verb);

/// InputError where there are several processes and the algorithm is not made for them.
void check_algorithm(Algorithm algorithm);

/// Whether this is the process that says and writes things.
bool is_host();

/// When something was thrown: whether all processes end alike. If not, this one speaks from here on.
bool processes_end_together();

/// Ends the other processes too, with the exit code of this one. Nothing happens where there are none.
void end_all_processes(int code);

/// Leaves the others, at the end of the program.
void leave_processes();

} // namespace pnmf::cli
