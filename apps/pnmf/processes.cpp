#include "processes.hpp"
#include "cells/processes.hpp"
#include "say.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#ifdef PNMF_HAS_MPI
#include "mpi/mpi_ranks.hpp"
#endif

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace pnmf::cli {
namespace {

/// A whole number in an environment variable; 0 where there is none.
int count_in(const char* variable) {
    const char* const text = std::getenv(variable);
    int count = 0;
    if (text != nullptr) {
        std::from_chars(text, text + std::string_view(text).size(), count);
    }
    return count;
}

/// Processes that a launcher of MPI says it has started.
int launched() {
    return std::max({count_in("OMPI_COMM_WORLD_SIZE"), count_in("PMI_SIZE"), count_in("MPI_LOCALNRANKS")});
}

#ifdef PNMF_HAS_MPI

struct Joined {
    MpiRanks mpi;
    ProcessesScope scope{mpi.processes()};
};
std::unique_ptr<Joined> together;

/// MPI is begun only where a launcher asks for it: a program that is started alone owes it nothing.
bool has_launcher() {
    return launched() > 0 || std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
}

void check_slurm() {
    const int tasks = std::max(count_in("SLURM_NTASKS"), count_in("SLURM_STEP_NUM_TASKS"));
    require(
        all_processes().count() > 1 || tasks <= 1,
        "Slurm has {} tasks for this program, but each is alone: MPI was not told of the others. Start it "
        "with srun --mpi=pmix (srun --mpi=list shows what there is) or with mpirun; for one process, with "
        "srun --ntasks=1",
        tasks);
}

/// Processes of one machine share its processors, unless the launcher or the user has shared them out.
void share_processors() {
    if (all_processes().count() > 1 && std::getenv("OMP_NUM_THREADS") == nullptr) {
        set_thread_count(std::max(1, thread_count() / all_processes().count_here()));
    }
}

#else

void check_alone() {
    const int processes = std::max(launched(), count_in("SLURM_STEP_NUM_TASKS"));
    require(processes <= 1,
            "this is one of {} processes, and this build of pnmf was configured without MPI (-DPNMF_MPI=ON): "
            "start it once",
            processes);
}

#endif

} // namespace

void begin_processes(const std::string& verb) {
#ifdef PNMF_HAS_MPI
    if (has_launcher()) {
        together = std::make_unique<Joined>();
    }
    set_silent(!is_host());
    if (verb == "fit") {
        check_slurm();
    }
    require(all_processes().count() == 1 || verb == "fit",
            "`pnmf {}` is for one process, and was started as {}: only `pnmf fit` divides its work", verb,
            all_processes().count());
    share_processors();
#else
    if (verb == "fit") {
        check_alone();
    }
#endif
}

void check_algorithm(Algorithm algorithm) {
    require(all_processes().count() == 1 || algorithm == Algorithm::stationary,
            "the algorithm {} is for one process: only stationary divides its work over {} processes",
            name_of(algorithm), all_processes().count());
}

bool is_host() {
    return all_processes().place() == 0;
}

bool processes_end_together() {
#ifdef PNMF_HAS_MPI
    constexpr double grace =
        2.0; // seconds: a wrong file or option is found by all processes at about one time
    if (together && all_processes().count() > 1 && !together->mpi.all_arrive(grace)) {
        set_silent(false);
        say("pnmf: process {} of {} ends the run:\n", all_processes().place(), all_processes().count());
        return false;
    }
#endif
    return true;
}

void end_all_processes([[maybe_unused]] int code) {
#ifdef PNMF_HAS_MPI
    if (together) {
        together->mpi.end_all(code);
    }
#endif
}

void leave_processes() {
#ifdef PNMF_HAS_MPI
    together.reset();
#endif
}

} // namespace pnmf::cli
