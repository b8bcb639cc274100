#pragma once

#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <vector>

namespace pnmf {

/// The longest edge on the path between any two cells of a tree, in O(1) and O(n) memory.
///
/// Merging along the edges in ascending order and writing each merged cluster as its two parts side by side
/// puts the cells in a row. The longest edge between two of them is the largest of the gaps between their
/// places, where a gap is the edge that brought its two sides together.
class Bottlenecks {
  public:
    /// `edges` ascend and make a tree that holds the cell `root` and others of the `cells` cells there are.
    /// `key` gives the number to keep for an edge's length; it must not fall as the length grows.
    Bottlenecks(Index cells, const std::vector<Edge>& edges, Index root,
                const std::function<double(double)>& key);

    /// The place of a cell of the tree in the row.
    Index place(Index cell) const { return place_[cell]; }
    /// The largest key between two places, first < last.
    double between(Index first, Index last) const;

  private:
    static constexpr Index block = 16;
    void build_maxima();

    std::vector<Index> place_;
    std::vector<double> gap_;                 ///< between places t and t + 1
    std::vector<double> from_block_start_;    ///< largest gap from the start of its block up to t
    std::vector<double> to_block_end_;        ///< largest gap from t to the end of its block
    std::vector<std::vector<double>> blocks_; ///< [level][b]: largest gap in blocks b … b + 2^level − 1
};

} // namespace pnmf
