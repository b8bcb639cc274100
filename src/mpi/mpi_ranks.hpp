#pragma once

#include "cells/processes.hpp"

#include <cstddef>
#include <memory>

namespace pnmf {

/// The processes that mpirun or srun started together. One of these lives as long as the program; it begins
/// and ends MPI. Only the target pnmf_mpi knows MPI's own header.
class MpiRanks {
  public:
    /// Messages longer than `largest_piece` bytes travel in pieces: MPI counts by int.
    explicit MpiRanks(std::size_t largest_piece = std::size_t{1} << 30U);
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;
    ~MpiRanks();

    Processes& processes();

    /// Whether all processes call this within so many seconds. For processes that are about to end: each
    /// calls it once.
    bool all_arrive(double seconds);
    /// Ends all processes at once, with this exit code.
    void end_all(int code);

  private:
    class Ranks;
    std::unique_ptr<Ranks> processes_;
};

} // namespace pnmf
