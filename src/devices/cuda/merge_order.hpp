#pragma once

#include <cstdint>
#include <vector>

namespace pnmf {
class ComponentForest;
}

namespace pnmf::cuda {

/// The components of all scales in the order of the merge tree: cells are put in one order in which every
/// component of every scale is a run, and components are numbered anew along it. Then the parts of a
/// component follow each other, cells as well as components of the next finer scale.
///
/// The order is cut into pieces, one for each block of threads. A component is *narrow* when all its cells
/// are in one piece, else *wide*. What is inside a narrow component is narrow, so that a block of threads
/// solves the narrow components of its piece without waiting for another. At each scale at most one wide
/// component reaches over a cut, so wide ones are few.
struct MergeOrder {
    std::vector<std::int32_t> cell;      ///< at each place of the order
    std::vector<std::int32_t> component; ///< of cell j at scale t: [j·T + t]
    std::vector<std::int64_t> level;     ///< where the components of scale t begin; T + 1 of them
    /// Of component c of scale t, at level[t] + t + c; one more at the end of each scale.
    std::vector<std::int32_t> first_cell;  ///< its first place in the order
    std::vector<std::int32_t> first_child; ///< its first component at the next finer scale
    /// Of component c of scale t, at level[t] + c.
    std::vector<std::int32_t> parent;

    std::vector<std::int32_t> piece; ///< the first place of each, and the number of cells at the end
    /// The narrow components of piece p at scale t: from [2(p·T + t)] to before [2(p·T + t) + 1]. Where there
    /// are none, both are the first component that begins after the wide one that the piece begins in.
    std::vector<std::int32_t> narrow;
    std::vector<std::int32_t> narrow_scales; ///< of each piece: so many finest scales have narrow components

    /// Wide components, finest scale first; w is such a number.
    std::vector<std::int32_t> wide_level; ///< where those of scale t begin; T + 1 of them
    std::vector<std::int32_t> wide;       ///< the component at its scale
    std::vector<std::int32_t> wide_scale;
    std::vector<std::int32_t> wide_size;   ///< cells
    std::vector<std::int32_t> wide_parent; ///< w of its parent, which is wide too; 0 at the coarsest scale
    std::vector<std::int32_t> wide_inside; ///< the first wide component inside it; one more at the end
    std::vector<std::int32_t> wide_first_piece; ///< pieces that it reaches over
    std::vector<std::int32_t> wide_last_piece;

    std::int64_t pieces() const { return static_cast<std::int64_t>(piece.size()) - 1; }
};

/// `pieces` between 1 and the number of cells. Cuts are made where they run through few scales.
MergeOrder merge_order(const ComponentForest& forest, std::int64_t pieces);

} // namespace pnmf::cuda
