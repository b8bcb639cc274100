#pragma once

#include "solvers/chain.hpp"

namespace pnmf {

template <class Real>
std::unique_ptr<Chain<Real>> make_cpu_chain(const Problem<Real>& problem);

} // namespace pnmf
