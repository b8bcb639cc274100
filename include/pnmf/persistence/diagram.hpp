#pragma once

#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// H0 persistence of the Vietoris–Rips filtration with strict `<`: components die when they merge.
struct Diagram {
    std::vector<double>
        deaths; ///< n − 1 finite deaths, ascending; every birth is 0; one component never dies
};

Diagram h0_diagram(const SpanningTree& tree);

/// β₀(ε): components of the graph with an edge where distance < ε, for ε > 0.
Index betti0(const Diagram& diagram, double epsilon);

/// One merge: at `height` the clusters `left` and `right` become cluster n + (position in the list).
/// Clusters 0 … n − 1 are the cells. The format of SciPy's linkage matrices.
struct Merge {
    Index left = 0;
    Index right = 0;
    double height = 0.0;
    Index size = 0; ///< cells in the merged cluster
};

/// n − 1 merges, ascending in height.
std::vector<Merge> merge_tree(const SpanningTree& tree);

/// Component of each cell in the graph at ε (strict `<`), numbered from 0 by the smallest cell in each.
std::vector<Index> components(const SpanningTree& tree, double epsilon);

/// How many there are, of components numbered from 0.
Index component_count(const std::vector<Index>& components);

} // namespace pnmf
