#pragma once

#include "persistence/neighbor_candidates.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <functional>
#include <span>
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

/// The cells about each centre, consecutive places in `order`.
struct ListOrder {
    struct List {
        Index centre = 0;
        Index begin = 0;
        Index end = 0;
    };
    std::vector<std::int32_t> order;
    std::vector<List> lists;
};

/// `centre` is that of each cell, of so many.
ListOrder order_lists(const std::vector<std::int32_t>& centre, Index centres);

/// Which cells b those about a centre c are compared with: the nearest to it in the search space, by
/// ‖b − c‖² + ‖r_b‖². A cell near the mean of all, with a short remainder, is so near many centres.
class CellsAbout {
  public:
    /// About `looked_at` of all cells for each centre, as a sample of them says, or more where `count` are to
    /// be found.
    CellsAbout(const Floats& sample, const FloatVector& own_of_sample, const Floats& centres, Index cells,
               Index looked_at, Index count);

    /// Those among the columns of V for each centre from `first` to `past`, ascending, numbered from `number`
    /// on; and with them all whose nearest centre it is. Products are made of `panel` columns at a time.
    std::vector<std::vector<std::int32_t>> among(ConstBlock<float> V, const FloatVector& own,
                                                 std::span<const std::int32_t> nearest, Index panel,
                                                 Index first, Index past, Index number = 0) const;

  private:
    const Floats& centres_;
    FloatVector limit_; ///< of ‖Qᵀb‖² + ‖r_b‖² − 2⟨Qᵀb, c⟩, for each centre
};

/// Where the sample has misled, and too few are compared to find `count` of n cells: all are.
void add_all_if_few(std::vector<std::int32_t>& compared, Index count, Index n);

/// Writes the search coordinates of a cell, and returns ‖r_b‖².
using WriteCell = std::function<float(std::int32_t cell, Eigen::Ref<FloatVector> out)>;

/// What the cells about one centre are compared with. Coordinates begin at the centre: distances are short
/// from there, and a float has the digits for them.
class ComparedCells {
  public:
    ComparedCells(FloatVector centre, std::span<const std::int32_t> cells, const WriteCell& write);

    /// At most `queries_at_once` cells: visits each with the `count` nearest others.
    void visit_nearest(std::span<const std::int32_t> queries, Index count, const WriteCell& write,
                       const CandidateVisitor& visit) const;

  private:
    FloatVector centre_;
    std::span<const std::int32_t> cells_;
    Floats vectors_;
    FloatVector own_; ///< ‖Qᵀb − c‖² + ‖r_b‖²
};

} // namespace pnmf
