#pragma once

#include "persistence/pair_searcher.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/data_products.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace pnmf {

/// What is known of a device before anything is put on it.
struct DeviceFacts {
    bool built = false; ///< this build has code for it
    bool found = false; ///< and this machine has one that can be used
    std::string name{};
    std::string reason{};    ///< why it cannot be used
    double free_bytes = 0.0; ///< of its memory
    double total_bytes = 0.0;
    int sharing = 1; ///< ranks of this machine that use it
};

/// Sizes that the memory of a run on a device depends on.
struct DeviceNeed {
    Index features = 0;
    Index cells = 0;
    Index scales = 0;
    Index rank = 0;
    bool dense = false;             ///< X has every entry stored
    std::int64_t nonzeros = 0;      ///< entries of X that are stored
    std::int64_t graph_entries = 0; ///< edges in the lists of both their ends, or n² for a table of all pairs
    bool table = false;             ///< all pairs
    std::int64_t components = 0;    ///< Σ_t β₀(t)
    bool momentum = true;           ///< the point before is kept
    bool shifts = true;             ///< sums over components are
    Index bytes_of_number = 8;

    // Of one of several ranks: then sizes above are those of its own cells, but for those of W.
    Index ranks = 1;
    Index cells_in_block = 0; ///< linalg/cell_blocks.hpp
    Index halo = 0;           ///< columns of H of other ranks that its neighbours are
    Index sent = 0;           ///< its own that are neighbours of theirs
    Index gathered = 0;       ///< columns of H of all ranks, where every product with the graph needs them
};

/// Of the device "cuda" (src/backends/table.cpp). Without CUDA in the build: not built, and 0 bytes.
DeviceFacts cuda_device();
double cuda_device_bytes(const DeviceNeed& need);

/// All pairs of cells on the device "cuda", and what that needs there; not to be called where it is not
/// found.
std::unique_ptr<PairSearcher> cuda_pair_searcher(const Points& points);
double cuda_pair_bytes(Index dimensions, Index cells);

/// Products with X on the device "cuda", and what they need there: of `need` the data, and `rank` columns at
/// a time.
template <class Real>
std::unique_ptr<DataProducts> cuda_data_products(const DataMatrix<Real>& X);
double cuda_data_product_bytes(const DeviceNeed& need);

} // namespace pnmf
