#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/names.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <variant>
#include <vector>

namespace pnmf {

class CellComparison;
class PairBounds;

enum class Metric {
    euclidean, ///< ‖xᵢ − xⱼ‖₂
    cosine,    ///< 1 − cos∠(xᵢ, xⱼ)
};

template <>
struct EnumNames<Metric> {
    static constexpr auto values =
        name_table<Metric>({{"euclidean", Metric::euclidean}, {"cosine", Metric::cosine}});
};

/// The cells as points with a distance: the one place where a distance is computed.
///
/// `distance(i, j)` is canonical: symmetric, the same bits at every call and for dense and sparse X, accurate
/// also between near-duplicates (it sums squared differences; ‖a‖² + ‖b‖² − 2ab cancels there). Tree, scales
/// and graphs all compare these numbers, so the strict `<` of the paper means the same thing everywhere.
/// Under the cosine metric columns are scaled to length 1 and 1 − cos∠(a, b) = ½‖a − b‖².
class Points {
  public:
    /// Cells are the columns of X, features × cells. Throws InputError, naming the place, unless all values
    /// are finite, at most 1e150 in size, and, for cosine, no cell is zero everywhere.
    explicit Points(Matrix X, Metric metric = Metric::euclidean);
    explicit Points(SparseMatrix<double> X, Metric metric = Metric::euclidean);
    /// Cells that stay where they are: they must outlive this and its copies. Under the cosine metric they
    /// are copied, to be scaled.
    explicit Points(const DataView& X, Metric metric = Metric::euclidean);
    /// The user's own distances, n × n: symmetric, nonnegative, zero diagonal, or InputError names the entry.
    static Points from_distances(Matrix distances);

    /// A copy of some cells, with the same distances.
    Points subset(const std::vector<Index>& cells) const;

    Index count() const { return count_; }
    double distance(Index i, Index j) const;
    /// The distances from cell i to all cells, canonical, length count().
    void distances_from(Index i, Eigen::Ref<Vector> out) const;
    /// The distances of all pairs, canonical, count() × count().
    Matrix table() const;

    /// Features that distances are computed from; 0 when the distances were given.
    Index dimensions() const;
    /// Those of cell i, scaled to length 1 under the cosine metric; length dimensions().
    void coordinates(Index i, Eigen::Ref<Vector> out) const;
    /// Those of all cells as held: `columns()` when sparse, `dense()` when not. None when the distances were
    /// given.
    bool is_sparse() const { return is_sparse_; }
    SparseView<double> columns() const { return borrowed_sparse_ ? *borrowed_sparse_ : view_of(sparse_); }
    DenseView<double> dense() const;

  private:
    friend class CellComparison;
    friend class PairBounds;
    Points() = default;
    void check() const;
    void scale_to_unit_length();
    double squared_difference(Index i, Index j) const;
    double distance_of(double squared_difference) const;
    Matrix written_out(Index begin, Index end) const;

    enum class Kind { euclidean, cosine, table };
    Kind kind_ = Kind::euclidean;
    Index count_ = 0;
    Matrix dense_;                ///< coordinates, or the table of distances
    SparseMatrix<double> sparse_; ///< coordinates when `is_sparse_`
    bool is_sparse_ = false;
    const double* borrowed_dense_ = nullptr;            ///< instead of `dense_`, with
    Index borrowed_rows_ = 0;                           ///< as many features
    std::optional<SparseView<double>> borrowed_sparse_; ///< instead of `sparse_`
};

} // namespace pnmf
