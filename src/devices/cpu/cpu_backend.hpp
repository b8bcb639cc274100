#pragma once

#include "cells/cell_blocks.hpp"
#include "solvers/backend.hpp"

#include <memory>

namespace pnmf {

/// Sweeps on the threads of this machine, on the factors in place. Bases may rest in a file: then those of a
/// few scales at a time are in memory. The bits do not depend on the number of threads.
template <class Real>
std::unique_ptr<Backend<Real>> make_cpu_backend(const Problem<Real>& problem, const CellBlocks& blocks);

} // namespace pnmf
