#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <vector>

namespace pnmf {

/// The graphs of all scales in one: what paths between cells run along.
///
/// Invariant: each edge stands at both of its ends with the same weight > 0 and length ≥ 0.
struct PathGraph {
    NeighborLists lists;        ///< which cells are joined
    std::vector<double> weight; ///< ā of each entry of the lists
    std::vector<double> length; ///< l of each entry

    Index cells() const { return lists.cells(); }
};

/// How many of all scales each of these stands for, and where they are.
struct PathScales {
    std::vector<double> epsilon; ///< T, ascending
    std::vector<double> weight;  ///< ω, T; empty: each counts once
    double alpha = 2.0;          ///< of the weights of edges
};

/// Puts the scales together. With the weights a_ij(ε_t) of the graphs and the embeddings ĥ_t, cells scaled to
/// length 1,
///
///     ā_ij = Σ_t ω_t a_ij(ε_t) / Σ_t ω_t ,     l_ij² = Σ_t ω_t ‖ĥ_ti − ĥ_tj‖² / Σ_t ω_t
///
/// An edge that is there at fine scales counts at all coarser ones too, so that short edges are heavy; one
/// that joins different kinds of cells is long at every scale. Edges that no scale has are left out.
/// `embedding(t)`, d × n, is asked for once each.
PathGraph path_graph(const NeighborLists& edges, const PathScales& scales,
                     const std::function<Matrix(Index)>& embedding);

/// How far each cell is from the root: the shortest path along the edges, by their lengths (Dijkstra 1959),
/// divided by the largest. 0 at the root, 1 at the farthest cell. InputError unless all cells can be reached,
/// with the number that cannot.
Vector path_times(const PathGraph& graph, Index root);

struct FateOptions {
    double direction = 10.0; ///< β ≥ 0; larger makes steps back in time rarer, 0: as likely as forth
    double tolerance = 1e-9; ///< largest change of a probability in the last sweep
    Index max_sweeps = 20'000;
};

struct Fates {
    Matrix probability; ///< ends × cells; columns sum to 1
    Index sweeps = 0;
    double residual = 0.0; ///< largest change in the last sweep
    bool converged = true;
};

/// With which probability a walk from each cell comes to each end first.
///
/// The walk steps from i to j with a probability in proportion to
///
///     ā_ij · min(1, 2 / (1 + exp(β(τ_i − τ_j))))
///
/// with the times τ: forth in time as the weights say, back in time seldom (the soft direction of Stassen et
/// al. 2021, Nat. Commun. 12:5528, as CellRank has it). Cells of an end are left no more. The probabilities
/// B of an absorbing Markov chain solve (I − Q)B = R (Kemeny and Snell 1960, ch. 3), as in Palantir (Setty et
/// al. 2019, Nat. Biotechnol. 37:451); solved by Gauss–Seidel sweeps against time. `ends`: the cells of each
/// end, none of them empty, no cell in two. Does not depend on the number of threads.
Fates fates(const PathGraph& graph, const Vector& times, const std::vector<std::vector<Index>>& ends,
            const FateOptions& options = {});

/// Clusters where paths end: the leaves, but for the root's own, of the tree of clusters. That is the maximum
/// spanning tree of the links between clusters, Σ ā_ij over their cells divided by both of their sizes.
/// Where there are fewer than two clusters, the root's own cluster. `clusters` are numbered from 0.
std::vector<Index> end_clusters(const PathGraph& graph, const std::vector<Index>& clusters, Index root);

/// The cells of a cluster that are late: the last tenth by their times, at least one; equal ones by their
/// order.
std::vector<Index> late_cells(const Vector& times, const std::vector<Index>& clusters, Index cluster);

/// The cell of a group that is nearest to its mean in the embeddings, cells scaled to length 1 and all scales
/// together as in `path_graph`.
Index central_cell(const std::vector<Index>& group, const PathScales& scales,
                   const std::function<Matrix(Index)>& embedding);

} // namespace pnmf
