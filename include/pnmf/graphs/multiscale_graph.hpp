#pragma once

#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace pnmf {

/// The weight of an edge at one scale, eq. (adjacency_matrix); the formula of the graphs, here and nowhere
/// else:
///
///     w(d) = exp(−d² / ε^α)  where d < ε,  0 elsewhere
///
/// The comparison is strict and between distances as `Points` gives them, not squares: a spanning-tree edge
/// of length exactly ε is not in the graph at ε. With α ≠ 2 the exponent has a unit: multiplying X by c
/// multiplies it by c^(2−α), so that the weights depend on the unit of X. Weights below 1e-307 are 0; the
/// pair still counts as an edge.
class EdgeWeight {
  public:
    /// ε and α finite and positive, ε^α within the range of a double, or InputError.
    EdgeWeight(double epsilon, double alpha);

    double epsilon() const { return epsilon_; }
    bool joins(double distance) const { return distance < epsilon_; }
    /// For a pair that is joined.
    double of_edge(double distance) const {
        const double exponent = distance * distance * negative_rate_;
        return exponent < smallest_exponent ? 0.0 : std::exp(exponent);
    }
    double operator()(double distance) const { return joins(distance) ? of_edge(distance) : 0.0; }

  private:
    static constexpr double smallest_exponent = -706.0; // below it results lose digits, and time
    double epsilon_;
    double negative_rate_; ///< −1 / ε^α
};

/// α as every graph takes it: finite and positive, or InputError.
void check_alpha(double alpha);

/// Neighbours of each cell, nearest first: entry e of cell j, start[j] ≤ e < start[j + 1], is the cell
/// cell[e] at distance length[e]. The graph at scale ε is a prefix of each list.
///
/// Invariant: within a list (length, cell) ascends strictly, and no list names its own cell.
struct NeighborLists {
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> cell;
    std::vector<double> length;

    Index cells() const { return static_cast<Index>(start.size()) - 1; }
};

/// Lists that hold each edge at both of its ends. The order of the edges is free; equal edges are one.
NeighborLists symmetric_lists(Index cells, std::vector<Edge> edges);

/// The `count` nearest cells of each cell, read off a symmetric n × n table of distances. count < n.
NeighborLists nearest_in_table(const Matrix& distances, Index count);

/// The graphs G(ε) on the cells, eq. (adjacency_matrix):
///
///     A_ij(ε) = exp(−d_ij² / ε^α)  where i ≠ j and d_ij < ε,  0 elsewhere;   D = diag(A·1),  L = D − A
///
/// None is held here: `at(ε)` makes the one that is asked for.
/// Safe to call from several threads.
class MultiscaleGraph {
  public:
    /// One scale's graph.
    class Scale {
      public:
        virtual ~Scale() = default;
        /// H·A(ε), d × n, for H d × n.
        virtual Matrix times_adjacency(const Matrix& H) const = 0;
        virtual DenseMatrix<float> times_adjacency(const DenseMatrix<float>& H) const = 0;
        /// Degrees D_jj = Σᵢ A_ij, length n.
        virtual const Vector& degrees() const = 0;
        /// Number of edges, each counted once.
        virtual Index edges() const = 0;
        /// A(ε) written out, n × n: for small n, tests and diagnostics.
        virtual Matrix adjacency() const = 0;
    };

    virtual ~MultiscaleGraph() = default;
    virtual Index cells() const = 0;
    /// α of the weight.
    virtual double alpha() const = 0;
    /// A tree, or several where the graph falls apart, whose edges shorter than ε join the cells that the
    /// graph at ε joins: `components(tree, ε)` are those of that graph.
    virtual const SpanningTree& tree() const = 0;
    virtual std::unique_ptr<Scale> at(double epsilon) const = 0;
};

/// The ε of a graph that was given as it is: no pair is too far apart for it.
inline constexpr double no_threshold = std::numeric_limits<double>::infinity();

} // namespace pnmf
