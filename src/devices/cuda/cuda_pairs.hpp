#pragma once

#include "persistence/pair_searcher.hpp"

#include <memory>

namespace pnmf {

/// All pairs of cells on a CUDA device. Coordinates are rounded, to float where they are few and to TF32
/// where they are many; every bound accounts for it. Not for a user's distances.
std::unique_ptr<PairSearcher> make_cuda_searcher(const Points& points);

/// Bytes that it needs on the device.
double cuda_search_bytes(Index dimensions, Index cells);

} // namespace pnmf
