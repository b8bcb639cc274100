#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <variant>
#include <vector>

namespace pnmf {

enum class Metric {
    euclidean, ///< ‖xᵢ − xⱼ‖₂
    cosine,    ///< 1 − cos∠(xᵢ, xⱼ)
};

/// The cells as points with a distance: the one place where a distance is computed.
///
/// `distance(i, j)` is canonical: symmetric, the same bits at every call, accurate also between
/// near-duplicates (it sums squared differences; ‖a‖² + ‖b‖² − 2ab cancels there). Tree, scales and graphs
/// all compare these numbers, so the strict `<` of the paper means the same thing everywhere.
class Points {
  public:
    /// Cells are the columns of X, features × cells.
    explicit Points(Matrix X, Metric metric = Metric::euclidean);
    explicit Points(SparseMatrix<double> X, Metric metric = Metric::euclidean);
    /// The user's own distances, n × n: symmetric, nonnegative, zero diagonal, or InputError names the entry.
    static Points from_distances(Matrix distances);

    Index count() const;
    double distance(Index i, Index j) const;
    /// The distances from cell i to all cells, canonical, length count().
    void distances_from(Index i, Eigen::Ref<Vector> out) const;

    /// A block of approximate squared distances by one matrix product, rows [i, i + rows) × columns
    /// [j, j + cols) of the n × n table, with a bound e on the error of each entry: |approximate − exact²| ≤ e.
    /// To discard pairs quickly; what remains is decided by `distance()`. Each call runs on one thread.
    struct Block {
        Matrix squared;
        double error = 0.0;
    };
    Block squared_block(Index i, Index rows, Index j, Index cols) const;
};

} // namespace pnmf
