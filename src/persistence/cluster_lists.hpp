#pragma once

#include "persistence/neighbor_candidates.hpp"
#include "persistence/shortlist.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

/// What a clustered search is put together from (`visit_clustered_candidates`), whoever holds the cells.
namespace pnmf {

using Floats = DenseMatrix<float>;
using FloatVector = Eigen::VectorXf;

/// Cells whose nearest are searched together. Products of other sizes may round in another way.
inline constexpr Index queries_at_once = 256;

/// How many centres there are, and cells that they are found from.
Index number_of_centres(Index cells, const ClusterSettings& settings);
std::vector<Index> sample_for_centres(Index cells, Index centres, std::uint64_t seed);

/// Lloyd's algorithm on a sample of the cells.
Floats find_centres(const Floats& sample, Index count);

/// Centre nearest to each column of V, equal ones by the smaller centre; products are made of `panel` columns
/// at a time. Processes share the columns.
std::vector<std::int32_t> nearest_centres(ConstBlock<float> V, const Floats& centres, Index panel);

/// The cells with the smallest ‖Qᵀb‖² + ‖r_b‖²: nearest to the mean, and so to most cells.
std::vector<std::int32_t> central_cells(const FloatVector& own, Index count);

/// Consecutive places in the order of `ListOrder`. Its central cells stand last.
struct List {
    Index centre = 0;
    Index begin = 0;
    Index central = 0; ///< where they begin
    Index end = 0;
};

/// All cells in the order of their lists.
struct ListOrder {
    std::vector<std::int32_t> order;
    std::vector<List> lists;
};

/// `centre` is that of each cell, of so many.
ListOrder order_lists(const std::vector<std::int32_t>& centre, Index centres,
                      const std::vector<std::int32_t>& central);

/// The lists that the cells of list l are compared with: itself, then the nearest, until there are enough
/// cells.
std::vector<Index> lists_to_look_at(const std::vector<List>& lists, Index l, const Floats& centres,
                                    const FloatVector& centre_own, Index looked_at);

/// Compares some cells with blocks of others, one block after another.
class Comparison {
  public:
    Comparison(ConstBlock<float> queries, Index count) : queries_(queries) {
        found_.reserve(static_cast<std::size_t>(queries.cols()));
        for (Index a = 0; a < queries.cols(); ++a) {
            found_.emplace_back(count); // copies of one would have no memory set aside
        }
    }

    /// Others are named by their numbers from `first` on.
    void with(Index first, ConstBlock<float> vectors, const FloatVector& own, Index begin, Index end);

    Shortlist& found(Index query) { return found_[query]; }

  private:
    ConstBlock<float> queries_;
    std::vector<Shortlist> found_;
    std::vector<float> keys_; ///< a column for each query
};

} // namespace pnmf
