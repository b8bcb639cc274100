#pragma once

#include <pnmf/persistence/distances.hpp>

#include <vector>

namespace pnmf {

/// For each cell the first cell with the same coordinates, itself where there is none before it.
/// A user's distances have no coordinates: there each cell is its own.
std::vector<Index> first_equal_cells(const Points& points);

} // namespace pnmf
