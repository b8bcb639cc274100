#pragma once

#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Silhouette of each cell (Rousseeuw 1987), exact: with a the mean distance to the others of its cluster and
/// b the smallest mean distance to another cluster, (b − a) / max(a, b); 0 for a cell alone in its cluster.
///
/// X is d × n, cells are columns; `clusters` has n labels of at least 2 kinds, any integers.
/// Cost 2n²d in blocks, memory O(n). The result does not depend on the number of threads.
Vector silhouettes(const Matrix& X, const std::vector<Index>& clusters);

/// Their mean over all cells.
double mean_silhouette(const Matrix& X, const std::vector<Index>& clusters);

} // namespace pnmf
