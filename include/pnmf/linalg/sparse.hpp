#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
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

} // namespace pnmf
