#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// The k nearest other cells of each cell, nearest first; equal distances by ascending index.
struct Neighbors {
    DenseMatrix<Index> index; ///< k × n
    Matrix distance;          ///< k × n, canonical
};

/// Exact, 1 ≤ k ≤ n − 1, in O(k·n) memory beside the points. Cost O(n²) distances, as blocked products.
Neighbors exact_neighbors(const Points& points, Index k);

} // namespace pnmf
