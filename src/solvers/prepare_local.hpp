#pragma once

#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// `prepare_fit` where each process has X and the points of its own cells alone, those that sweeps give it.
/// `space` is coordinates × cells; their metric is that of the options. It may be X itself.
template <RealNumber Real>
PreparedFit<Real> prepare_local_fit(const DataView& X, const DataView& space, const CellRange& local,
                                    const FitOptions& options);

} // namespace pnmf
