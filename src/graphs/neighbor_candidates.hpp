#pragma once

#include "graphs/search_space.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace pnmf {

/// Called once for each cell, from many threads, with cells that may be its nearest; itself is not among
/// them.
using CandidateVisitor = std::function<void(Index cell, std::span<const std::int32_t> candidates)>;

/// The `count` nearest in the search space, all pairs by blocked products in float. Cost 2q·n².
void visit_screened_candidates(const SearchSpace& space, Index count, const CandidateVisitor& visit);

/// About those, by a hierarchical navigable small world (hnswlib). Cost about n·log n; the index is built on
/// one thread, because it depends on the order in which cells come.
void visit_indexed_candidates(const SearchSpace& space, Index count, std::uint64_t seed,
                              const CandidateVisitor& visit);

} // namespace pnmf
