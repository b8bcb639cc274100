#pragma once

#include "persistence/neighbor_tree.hpp"

#include <pnmf/graphs/filtration.hpp>

#include <cstdint>

namespace pnmf {

/// `make_filtration` of a tree and neighbours that were found, with scales that come from the tree.
Filtration tree_filtration(TreeAndNeighbors found, const FiltrationOptions& options, std::uint64_t seed);

} // namespace pnmf
