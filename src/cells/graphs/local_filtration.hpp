#pragma once

#include "ranks/persistence/divided_points.hpp"

#include <pnmf/graphs/filtration.hpp>

namespace pnmf {

/// `make_filtration` of points of which each rank has its own. Where the search can be made of parts
/// (`can_search_divided`) no rank ever has all points: with neighbours that are not balanced over batches,
/// Euclidean distances, and scales that come from the tree. In all other cases every rank gets all of them
/// for as long as this takes. All ranks call it, and get the filtration of one process.
Filtration divided_filtration(const DividedPoints& points, const FiltrationOptions& options,
                              std::uint64_t seed);

} // namespace pnmf
