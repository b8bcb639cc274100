#pragma once

#include <pnmf/types.hpp>

namespace pnmf {

/// exp of the entropy of the squared singular values of H, normalised to sum 1: 1 for a line through the
/// origin, d when all directions carry alike (Roy and Vetterli 2007). 0 for H = 0.
template <class Real>
double effective_rank(const DenseMatrix<Real>& H);

} // namespace pnmf
