#pragma once

#include "persistence/bottlenecks.hpp"
#include "persistence/pair_bounds.hpp"

#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

/// What a search for the minimum spanning tree does with blocks of pairs, whoever holds the points.
///
/// Points may be some of all cells: `names` then has the number that each of them has among all, and edges
/// are between these. Empty: the points are all cells.
namespace pnmf {

inline Index cell_name(std::span<const Index> names, Index cell) {
    return names.empty() ? cell : names[cell];
}

inline Edge named_edge(const Points& points, std::span<const Index> names, Index a, Index b) {
    const Index i = cell_name(names, a);
    const Index j = cell_name(names, b);
    return {points.distance(a, b), std::min(i, j), std::max(i, j)};
}

/// Kruskal's algorithm on few edges, at a cost that does not depend on the number of all cells.
void keep_forest(std::vector<Edge>& edges);

/// The tree of ascending edges and of others, in any order: both may have cells that the other has not.
std::vector<Edge> merged_tree(Index cells, const std::vector<Edge>& tree, std::vector<Edge> others);

/// A tree of a panel's cells by Prim's algorithm; lower is square. Any tree will do for a start.
std::vector<Edge> prim_tree(const Points& points, std::span<const Index> names, const std::vector<Index>& A,
                            const Matrix& lower);

/// The edge from each cell of B to its nearest of A, by the bounds; lower is A × B.
std::vector<Edge> nearest_edges(const Points& points, std::span<const Index> names,
                                const std::vector<Index>& A, const std::vector<Index>& B,
                                const Matrix& lower);

/// Groups of cells for panels: all of them, in the order given.
std::vector<std::vector<Index>> groups_of(const std::vector<Index>& cells);

/// Two groups whose pairs are looked through together; equal for the pairs inside a group.
struct GroupPair {
    Index first = 0;
    Index second = 0;
};

/// The steps: pairs of groups, as many in each step as in all before, at most eight for each group.
/// Groups stand in a circle; a step takes those a certain number of groups apart.
std::vector<std::vector<GroupPair>> plan_steps(Index groups);
/// The same for the pairs of one group out of `first` and one out of `second` others.
std::vector<std::vector<GroupPair>> plan_steps(Index first, Index second);

/// What a block of pairs brings: edges that may belong to the tree, and the largest distance seen if it
/// exceeds the largest known before.
struct Finding {
    std::vector<Edge> edges;
    double largest = 0.0;
};

/// Looks through one block of pairs, the cells of A × those of B, both in the order of their places.
class BlockSearch {
  public:
    BlockSearch(const PairBounds& bounds, std::span<const Index> names, const Bottlenecks& bottlenecks,
                double largest)
        : bounds_(bounds), names_(names), bottlenecks_(bottlenecks) {
        finding_.largest = largest;
    }

    Finding run(const std::vector<Index>& A, const std::vector<Index>& B, bool same);

  private:
    using Panel = PairBounds::Panel;

    Index place(const Panel& panel, Index k) const {
        return bottlenecks_.place(cell_name(names_, panel.cells[k]));
    }
    void rightwards();
    void leftwards();
    void test(Index b, Index first, Index count);
    void keep_light(Index b, Index first, Index count);
    void measure_far(Index b, Index first, Index count);

    static constexpr std::size_t full_ = 8 * panel_cells;
    const PairBounds& bounds_;
    std::span<const Index> names_;
    const Bottlenecks& bottlenecks_;
    Panel A_;
    Panel B_;
    Matrix lower_;
    Vector limit_; ///< key of the longest tree edge from each cell of A to the cell of B
    double largest_width_ = 0.0;
    Finding finding_;
};

} // namespace pnmf
