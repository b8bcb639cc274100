#pragma once

#include <pnmf/graphs/sparse_graph.hpp>
#include <pnmf/graphs/weight.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Every edge that the graphs of some scale may have, shortest first: the graph at ε is a prefix.
struct Filtration {
    Index cells = 0;
    std::vector<Edge> edges; ///< ascending, each once

    /// Edges shorter than ε, the strict threshold of the paper.
    Index edges_below(double epsilon) const;
    /// The different positive lengths, ascending, then `complete`: Δ* of the paper when all pairs are there.
    std::vector<double> distance_scales(double complete) const;
};

/// Cells up to which all pairs are held: 24 bytes each, 0.8 GB there.
inline constexpr Index largest_complete_filtration = 8192;

/// All pairs of the points. InputError beyond `largest_complete_filtration`.
Filtration all_pairs(const Points& points);

/// The edges of a sparse graph.
Filtration edges_of(const SparseMultiscaleGraph& graph);

/// β₀ after all edges of each different length have been added, by union–find over all edges: knows nothing
/// of the spanning tree.
struct ComponentCounts {
    std::vector<double> length; ///< at which components merge, ascending
    std::vector<Index> before;  ///< components of the graph at ε = length (strict <)
    Index last = 0;             ///< components when all edges are there

    /// β₀(ε).
    Index at(double epsilon) const;
};
ComponentCounts component_counts(const Filtration& filtration);

/// How the Laplacian changes from one scale to a coarser one.
struct LaplacianIncrement {
    double norm = 0.0; ///< ‖L(ε′) − L(ε)‖_F, the square root of Σ (ΔD_ii)² + Σ (ΔA_ij)²
    double smallest_change = 0.0; ///< of a weight; negative only if a weight falls
    Index new_edges = 0;
};

/// From ε (no graph at all when 0) to ε′ ≥ ε. Cost: the edges at ε′.
LaplacianIncrement laplacian_increment(const Filtration& filtration, double alpha, double epsilon,
                                       double next_epsilon);

/// L(ε) written out, n × n.
Matrix laplacian(const Filtration& filtration, double alpha, double epsilon);

} // namespace pnmf
