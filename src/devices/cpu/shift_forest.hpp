#pragma once

#include "cells/cell_blocks.hpp"

#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

class ComponentForest;

/// The merge tree as one process works on it. A component is *narrow* when all its cells are in one block of
/// cells, else *wide*. A process has the narrow components of its own blocks, which nobody else needs; the
/// wide ones are on every process. Neither depends on how many processes there are. What is inside a narrow
/// component is narrow, and what holds a wide one is wide. With one block all are narrow.
class ShiftForest {
  public:
    struct Level {
        Index narrow =
            0; ///< components before this are narrow, ascending; then come all wide ones, ascending
        std::vector<std::int32_t> component; ///< of each cell of the slab
        std::vector<std::int32_t> parent;    ///< of each component, at the next coarser scale
        std::vector<std::int32_t> size;      ///< cells of each component, on all processes
        /// Components inside c at the next finer scale that are narrow like c, or wide like c, ascending:
        /// children[e] for first_child[c] ≤ e < first_child[c + 1].
        std::vector<std::int32_t> first_child;
        std::vector<std::int32_t> children;
        std::vector<std::int32_t> first_narrow; ///< of each block of the slab, and `narrow` at the end

        /// Blocks of the slab with cells of wide component w, ascending: block[e] for
        /// first_entry[w] ≤ e < first_entry[w + 1]; and the narrow components inside w in that block:
        /// inside[i] for first_inside[e] ≤ i < first_inside[e + 1].
        std::vector<std::int32_t> first_entry;
        std::vector<std::int32_t> block;
        std::vector<std::int32_t> first_inside;
        std::vector<std::int32_t> inside;
        /// The entries of each block of the slab: entry[i] for first_of_block[b] ≤ i < first_of_block[b + 1].
        std::vector<std::int32_t> first_of_block;
        std::vector<std::int32_t> entry;

        /// Nodes of all processes with cells of wide component w, ascending: node[s] for
        /// first_slot[w] ≤ s < first_slot[w + 1].
        std::vector<std::int32_t> first_slot;
        std::vector<std::int32_t> node;
        std::vector<Index> slots_before; ///< of each process: its slots at finer scales

        Index count() const { return static_cast<Index>(size.size()); }
        Index wide() const { return count() - narrow; }
    };

    ShiftForest(const ComponentForest& forest, const BlockShares& shares, int place);

    Index scales() const { return static_cast<Index>(levels_.size()); }
    const Level& operator[](Index t) const { return levels_[static_cast<std::size_t>(t)]; }
    const BlockShares& shares() const { return shares_; }
    int place() const { return place_; }
    BlockSlab slab() const { return shares_.slab(place_); }
    /// Slots of each process, at all scales.
    const std::vector<Index>& slots() const { return slots_; }
    bool has_wide() const;

    /// Without the narrow components, for those who have these on a device: wide ones are then numbered from
    /// 0. Entries stay, with nothing inside.
    friend ShiftForest wide_alone(ShiftForest all);

  private:
    BlockShares shares_;
    int place_;
    std::vector<Level> levels_;
    std::vector<Index> slots_;
};

ShiftForest wide_alone(ShiftForest all);

} // namespace pnmf
