#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace pnmf {

/// Compressed sparse columns: entry e of column j, start[j] ≤ e < start[j + 1], is value[e] at row row[e].
///
/// Invariant: start has cols + 1 ascending offsets from 0, rows ascend strictly within a column.
/// Offsets have 64 bits, so more than 2³² entries are representable; rows have 32.
template <class Real>
struct SparseMatrix {
    using RowIndex = std::int32_t;
    using Offset = std::int64_t;

    Index rows = 0;
    Index cols = 0;
    std::vector<Offset> start{0};
    std::vector<RowIndex> row;
    std::vector<Real> value;

    Offset nonzeros() const { return start.back(); }
};

/// A matrix as triplets; the order is free, equal places are added up.
template <class Real>
struct Triplets {
    std::vector<std::int32_t> row;
    std::vector<std::int32_t> col;
    std::vector<Real> value;
};

template <class Real>
SparseMatrix<Real> to_columns(Index rows, Index cols, const Triplets<Real>& triplets);

/// The transpose, again as compressed columns: the rows of `matrix`. Cost O(nonzeros).
template <class Real>
SparseMatrix<Real> transpose(const SparseMatrix<Real>& matrix);

template <class Real>
DenseMatrix<Real> to_dense(const SparseMatrix<Real>& matrix);

/// Throws InputError, naming the place, unless the invariant above holds. Exact zeros are allowed.
template <class Real>
void check_structure(const SparseMatrix<Real>& matrix);

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
