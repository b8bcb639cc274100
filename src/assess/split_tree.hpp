#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// Clusters that are joined where no test tells them apart.
struct SplitTree {
    /// cuts[i] has i + 1 clusters: the cluster of each leaf, numbered along the tree, so that those of one
    /// parent stand together. The first has one.
    std::vector<std::vector<Index>> cuts;
    /// p_value[i]: the largest over the divisions that cut i + 1 has.
    std::vector<double> p_value;
    double least_p = 1.0;   ///< of the divisions of all cells that were tried
    Index without_rare = 1; ///< so many first cuts have no division of a rare group
};

/// What a tree of splits is grown on.
struct SplitCells {
    Matrix space;              ///< d × m
    std::vector<double> depth; ///< m, or empty
    double level = 0.01;
    std::uint64_t seed = 0;
};

/// `leaf` of each cell of `cells`; `centres`: e × leaves, of the leaves in the embedding; `size` of each
/// leaf. What is done: `find_resolutions`.
SplitTree grow_splits(const SplitCells& cells, const std::vector<Index>& leaf, const Matrix& centres,
                      const std::vector<double>& size);

} // namespace pnmf
