#pragma once

#include <pnmf/graphs/filtration.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <cstdint>

namespace pnmf {

/// `make_filtration` of points, coordinates × cells, of which each process has those of its own cells: the
/// filtration of one process. All processes call it. Where it can be done so no process ever has all points:
/// with neighbours that are not balanced over batches, Euclidean distances, and scales that come from the
/// tree. In all other cases every process gets all of them for as long as this takes.
Filtration local_filtration(const DataView& points, const CellRange& cells, const FiltrationOptions& options,
                            std::uint64_t seed);

} // namespace pnmf
