#pragma once

#include "linalg/large_pages.hpp"

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <variant>
#include <vector>

namespace pnmf {

/// These columns, in this order.
template <class Real>
SparseMatrix<Real> some_columns(const SparseView<Real>& X, const std::vector<Index>& columns) {
    SparseMatrix<Real> some;
    some.rows = X.rows;
    some.cols = std::ssize(columns);
    for (const Index j : columns) {
        some.row.insert(some.row.end(), X.row.begin() + X.start[j], X.row.begin() + X.start[j + 1]);
        some.value.insert(some.value.end(), X.value.begin() + X.start[j], X.value.begin() + X.start[j + 1]);
        some.start.push_back(std::ssize(some.row));
    }
    return some;
}

inline std::variant<Matrix, SparseMatrix<double>> some_columns(const DataView& X,
                                                               const std::vector<Index>& columns) {
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        return Matrix((*dense)(Eigen::all, columns));
    }
    return some_columns(std::get<SparseView<double>>(X), columns);
}

template <class Real>
SparseMatrix<Real> copy_of(const SparseView<double>& X) {
    SparseMatrix<Real> copy;
    copy.rows = X.rows;
    copy.cols = X.cols;
    copy.start.assign(X.start.begin(), X.start.end());
    resize_on_large_pages(copy.row, X.row.size());
    resize_on_large_pages(copy.value, X.value.size());
    std::copy(X.row.begin(), X.row.end(), copy.row.begin());
    std::copy(X.value.begin(), X.value.end(), copy.value.begin());
    return copy;
}

/// Where each position stands among all, which are given in some order.
inline std::vector<Index> inverse(const std::vector<Index>& positions) {
    std::vector<Index> place(positions.size());
    for (Index j = 0; j < std::ssize(positions); ++j) {
        place[positions[j]] = j;
    }
    return place;
}

} // namespace pnmf
