#pragma once

#include <pnmf/assess/domains.hpp>
#include <pnmf/graphs/neighbor_lists.hpp>
#include <pnmf/solvers/fit.hpp>

#include <cstdint>

namespace pnmf {

/// Neighbours of each cell in what it expresses, wherever it is: 8 in 30 principal components of X.
NeighborLists expression_neighbors(const DataView& X, std::uint64_t seed);

/// `find_domains` of a fit whose graph joins cells that are near each other in a tissue.
template <class Real>
Domains tissue_domains(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                       const DomainOptions& options);

} // namespace pnmf
