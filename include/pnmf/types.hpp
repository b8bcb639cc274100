#pragma once

#include <Eigen/Core>

#include <cstdint>

namespace pnmf {

/// Rows, columns, cells, scales, edges: every count and position. 64 bits, signed.
using Index = Eigen::Index;

/// Dense, column-major. Data are features × cells, so a cell is a contiguous column.
template <class Real>
using DenseMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
template <class Real>
using DenseVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

using Matrix = DenseMatrix<double>;
using Vector = DenseVector<double>;

} // namespace pnmf
