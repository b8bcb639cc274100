#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

#include <optional>

namespace pnmf {

/// Puts the cells of a fit into the order of its tree, where that gains: cells that are neighbours are then
/// near each other in memory, and mostly on the same process (docs/decisions/0170-order-of-cells.md). One
/// block of cells is near enough as it is, and published protocols are repeated as they were. X must be made
/// in this order afterwards.
template <RealNumber Real>
void put_in_order(PreparedFit<Real>& prepared);

/// Factors of that fit in the order of the data again.
template <RealNumber Real>
void put_back(const PreparedFit<Real>& prepared, Factors<Real>& factors);

} // namespace pnmf
