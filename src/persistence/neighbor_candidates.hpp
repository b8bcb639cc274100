#pragma once

#include "persistence/search_space.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace pnmf {

/// Called once for each cell, from many threads, with cells that may be its nearest; itself is not among
/// them.
/// With several ranks each visits its share of the cells.
using CandidateVisitor = std::function<void(Index cell, std::span<const std::int32_t> candidates)>;

/// The `count` nearest in the search space, all pairs by blocked products in float. Cost 2q·n².
void visit_screened_candidates(const SearchSpace& space, Index count, const CandidateVisitor& visit);

/// Sizes of a clustered search; docs/decisions/0080-approximate-neighbours.md says what they give.
struct ClusterSettings {
    Index in_a_list = 1000;  ///< cells about one centre, on average
    Index looked_at = 24000; ///< cells of the nearest lists that a cell is compared with, at least
    Index central = 8000;    ///< cells compared with every cell: those nearest to all
};

/// About those, with fewer comparisons. Cells about common centres form lists, and the cells of a list are
/// compared with those of the lists nearest to it; and every cell with a few central ones, which are near
/// everybody and which centres do not lead to. Cost 2q·(looked_at + central + n / in_a_list)·n.
void visit_clustered_candidates(const SearchSpace& space, Index count, const ClusterSettings& settings,
                                std::uint64_t seed, const CandidateVisitor& visit);

} // namespace pnmf
