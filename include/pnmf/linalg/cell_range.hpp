#pragma once

#include <pnmf/communicator.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// Consecutive cells of all: those that one of several ranks holds.
struct CellRange {
    Index first = 0;
    Index count = 0;
    Index all = 0; ///< cells of all ranks

    Index past() const { return first + count; }
    bool operator==(const CellRange&) const = default;
};

/// The cells that sweeps give to a rank: whole blocks of cells, about as many for each.
CellRange share_of_rank(Index cells, const Communicator& ranks);

} // namespace pnmf
