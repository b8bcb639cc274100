#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Every edge that the graphs of some scale may have, shortest first: the graph at ε is a prefix.
struct SortedEdges {
    Index cells = 0;
    std::vector<Edge> edges; ///< ascending, each once

    /// Edges shorter than ε, the strict threshold of the paper.
    Index edges_below(double epsilon) const;
    /// The different positive lengths, ascending, then `complete`: Δ* of the paper when all pairs are there.
    std::vector<double> distance_scales(double complete) const;
};

/// Cells up to which all pairs are held: 24 bytes each, 0.8 GB there.
inline constexpr Index largest_set_of_pairs = 8192;

/// All pairs of the points. InputError beyond `largest_set_of_pairs`.
SortedEdges all_pairs(const Points& points);

} // namespace pnmf
