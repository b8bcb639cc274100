#pragma once

#include <pnmf/graphs/weight.hpp>
#include <pnmf/persistence/sorted_edges.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// β₀ after all edges of each different length have been added, by union–find over all edges: knows nothing
/// of the spanning tree.
struct ComponentCounts {
    std::vector<double> length; ///< at which components merge, ascending
    std::vector<Index> before;  ///< components of the graph at ε = length (strict <)
    Index last = 0;             ///< components when all edges are there

    /// β₀(ε).
    Index at(double epsilon) const;
};
ComponentCounts component_counts(const SortedEdges& sorted);

/// How the Laplacian changes from one scale to a coarser one.
struct LaplacianIncrement {
    double norm = 0.0; ///< ‖L(ε′) − L(ε)‖_F, the square root of Σ (ΔD_ii)² + Σ (ΔA_ij)²
    double smallest_change = 0.0; ///< of a weight; negative only if a weight falls
    Index new_edges = 0;
};

/// From ε (no graph at all when 0) to ε′ ≥ ε. Cost: the edges at ε′.
LaplacianIncrement laplacian_increment(const SortedEdges& sorted, double alpha, double epsilon,
                                       double next_epsilon);

/// L(ε) written out, n × n.
Matrix laplacian(const SortedEdges& sorted, double alpha, double epsilon);

} // namespace pnmf
