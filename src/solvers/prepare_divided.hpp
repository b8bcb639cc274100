#pragma once

#include "linalg/divided_columns.hpp"

#include <pnmf/solvers/fit.hpp>

namespace pnmf {

/// `prepare_fit` where each rank has X and the points of its own cells alone, those that sweeps give it.
/// The metric of the points is that of the options.
template <RealNumber Real>
PreparedFit<Real> prepare_divided_fit(const DataView& X, const DividedColumns& space,
                                      const FitOptions& options);

} // namespace pnmf
