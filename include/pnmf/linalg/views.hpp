#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <span>
#include <variant>

namespace pnmf {

/// Column-major values in someone else's memory, which must outlive the view and stay as they are.
///
/// They begin at a multiple of 16 bytes, as Eigen's own do: then sums run in the same order, bit for bit.
template <class Real>
using DenseView = Eigen::Map<const DenseMatrix<Real>, Eigen::Aligned16>;

template <class Real>
DenseView<Real> view_of(const DenseMatrix<Real>& matrix) {
    return DenseView<Real>(matrix.data(), matrix.rows(), matrix.cols());
}

/// Compressed columns in someone else's memory; the invariant is that of `SparseMatrix`.
template <class Real>
struct SparseView {
    Index rows = 0;
    Index cols = 0;
    std::span<const std::int64_t> start;
    std::span<const std::int32_t> row;
    std::span<const Real> value;

    std::int64_t nonzeros() const { return start.back(); }
};

template <class Real>
SparseView<Real> view_of(const SparseMatrix<Real>& matrix) {
    return {matrix.rows, matrix.cols, matrix.start, matrix.row, matrix.value};
}

/// As for `SparseMatrix`.
template <class Real>
SparseMatrix<Real> transpose(const SparseView<Real>& matrix);
template <class Real>
DenseMatrix<Real> to_dense(const SparseView<Real>& matrix);
template <class Real>
void check_structure(const SparseView<Real>& matrix);

/// Data, features × cells, that stay where they are.
using DataView = std::variant<DenseView<double>, SparseView<double>>;

inline Index features_of(const DataView& X) {
    const auto* dense = std::get_if<DenseView<double>>(&X);
    return dense != nullptr ? dense->rows() : std::get<SparseView<double>>(X).rows;
}
inline Index cells_of(const DataView& X) {
    const auto* dense = std::get_if<DenseView<double>>(&X);
    return dense != nullptr ? dense->cols() : std::get<SparseView<double>>(X).cols;
}

} // namespace pnmf
