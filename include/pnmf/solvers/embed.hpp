#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <optional>

namespace pnmf {

/// The graph term between new cells and n cells whose embedding is known: what it needs of the latter.
template <class Real>
struct StoredNeighbours {
    DenseMatrix<Real> HA;     ///< Σⱼ aⱼ hⱼ, d × m: one column for each of the m new cells
    DenseVector<Real> degree; ///< Σⱼ aⱼ, m
};

/// Distances from the first `stored` points to the others, stored × (count − stored), canonical as in
/// `Points`. Cost and memory grow with the product of both numbers.
Matrix distances_to_new(const Points& points, Index stored);
/// The same for the new points [begin, end), counted from 0: blocks need less memory at a time.
Matrix distances_to_new(const Points& points, Index stored, Index begin, Index end);

/// The sums over stored cells j, with weights aⱼ of the graph at one scale: exp(−d²/ε^α) where d < ε, for
/// each new cell over all stored cells, or over its `neighbors` nearest (the first of equal ones).
/// `distances` is n × m, H is d × n.
template <class Real>
StoredNeighbours<Real> stored_neighbours(const Matrix& distances, const EdgeWeight& weight,
                                         const DenseMatrix<Real>& H,
                                         std::optional<Index> neighbors = std::nullopt);

struct EmbedOptions {
    double tolerance = 1e-8;   ///< of H's part of the KKT certificate; no less than rounding allows
    Index max_passes = 20'000; ///< coordinate passes over a block of cells
};

template <class Real>
struct EmbeddedCells {
    DenseMatrix<Real> H;   ///< d × m
    Index passes = 0;      ///< most that a block of cells took
    double residual = 0.0; ///< largest of a block of cells: `Movement::ratio()`
    bool converged = true;
    double relative_error = 0.0; ///< ‖X − WH‖ / ‖X‖; 0 for X = 0
};

/// Embeds new cells at one scale with its basis W fixed: for each cell x the convex problem
///
///     min over h ≥ 0 of  ‖x − Wh‖² + λ₃‖h‖² + λ₁ Σⱼ aⱼ ‖h − hⱼ‖²
///
/// where the last sum runs over stored cells and is there only when `neighbours` are given. λ₂ plays no part:
/// scales are embedded one by one. Coordinate descent as in the fit, to the same certificate.
///
/// X is p × m, W is p × d, values finite and ≥ 0, or InputError. Cells are independent of one another; the
/// result is the same, bit for bit, whatever the number of threads. Cost 2pmd, and 2md² for each pass.
template <class Real>
EmbeddedCells<Real> embed_cells(const DataMatrix<Real>& X, const DenseMatrix<Real>& W, const Penalty& penalty,
                                const StoredNeighbours<Real>* neighbours = nullptr,
                                const EmbedOptions& options = {});

} // namespace pnmf
