#pragma once

#include "persistence/neighbor_candidates.hpp"

#include <pnmf/persistence/distances.hpp>

#include <span>
#include <vector>

namespace pnmf {

/// Processes candidates by their distances to one cell.
///
/// Sparse cells are first ordered by ‖b‖² − 2⟨a, b⟩ with a written out, a fraction of the time of a canonical
/// distance; a few more than k are then compared by that.
class CandidateRanking {
  public:
    explicit CandidateRanking(const Points& points);

    /// A candidate that is compared by its distance.
    struct Choice {
        double key;      ///< by which it was chosen, equal ones by the smaller cell
        double distance; ///< canonical
        Index cell;
    };
    /// How many are, of enough candidates, where the k nearest are wanted.
    Index choices(Index k) const { return points_.is_sparse() ? k + spare : k; }
    std::vector<Choice> choose(Index cell, std::span<const std::int32_t> candidates, Index k) const;

    /// The k nearest, as far as they are among the candidates.
    std::vector<CellAtDistance> nearest(Index cell, std::span<const std::int32_t> candidates, Index k) const;

  private:
    static constexpr Index spare = 8; // for what the products cannot tell apart

    void order_by_products(Index cell, std::span<const std::int32_t> candidates,
                           std::vector<CellAtDistance>& result) const;

    const Points& points_;
    Vector squared_norms_;
};

} // namespace pnmf
