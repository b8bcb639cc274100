#pragma once

#include "solvers/chain.hpp"

namespace pnmf {

/// The chained start on a CUDA device. Its loss is summed in another order than the CPU's, so a link may end
/// a step earlier or later.
template <class Real>
std::unique_ptr<Chain<Real>> make_cuda_chain(const Problem<Real>& problem);

} // namespace pnmf
