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
struct MergeOrder {
    std::vector<std::int32_t> cell;      ///< at each place of the order
    std::vector<std::int32_t> component; ///< of cell j at scale t: [j·T + t]
    std::vector<std::int64_t> level;     ///< where the components of scale t begin; T + 1 of them
    /// Of component c of scale t, at level[t] + t + c; one more at the end of each scale.
    std::vector<std::int32_t> first_cell;  ///< its first place in the order
    std::vector<std::int32_t> first_child; ///< its first component at the next finer scale
    /// Of component c of scale t, at level[t] + c.
    std::vector<std::int32_t> parent;
    /// Components of scale t with more than `many` children, large[large_level[t]] and on: a whole block of
    /// threads adds these up.
    std::vector<std::int32_t> large;
    std::vector<std::int64_t> large_level;

    static constexpr std::int32_t many = 32;
};

MergeOrder merge_order(const ComponentForest& forest);

} // namespace pnmf::cuda
