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

/// Consecutive cells of all: those whose values are here.
struct CellRange {
    Index first = 0;
    Index count = 0;
    Index all = 0; ///< how many cells there are

    Index past() const { return first + count; }
    bool operator==(const CellRange&) const = default;
};

} // namespace pnmf
