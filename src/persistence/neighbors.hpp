#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <span>

namespace pnmf {

/// The k nearest other cells of each cell, nearest first; equal distances by ascending index.
struct Neighbors {
    DenseMatrix<Index> index; ///< k × n
    Matrix distance;          ///< k × n, canonical
};

/// Exact, 1 ≤ k ≤ n − 1, in O(k·n) memory beside the points. Cost O(n²) distances, as blocked products.
Neighbors exact_neighbors(const Points& points, Index k);

/// The same with neighbours from these cells alone, 1 ≤ k < their number; still of every cell, which is not
/// its own neighbour. Equal distances by ascending index.
Neighbors exact_neighbors(const Points& points, Index k, std::span<const Index> among);

} // namespace pnmf
