#pragma once

#include <pnmf/metrics/consensus.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <vector>

namespace pnmf {

/// How groups of cells join over all scales.
struct GroupTree {
    Hierarchy hierarchy; ///< of the groups: `cells()` is their number
    Matrix means; ///< a column for each group: its mean unit cell at all scales, one below the other, each
                  ///< times √ω
};

/// Average linkage of groups by the distance of their mean cells over all scales,
///
///     D²(a, b) = Σ_t ω_t ‖m_ta − m_tb‖² ,     m_ta = mean over the cells of a of h_ti / ‖h_ti‖
///
/// ω_t the share of all scales that scale t stands for. Coarse graphs join what belongs together, so that
/// groups which part at few scales are near each other. `embedding(t)`, d × n, is asked for once each; groups
/// are numbered from 0, and each has a cell. `weight`: of the scales, or empty where all count alike.
GroupTree group_tree(Index scales, const std::function<Matrix(Index)>& embedding,
                     const std::vector<Index>& groups, const std::vector<double>& weight = {});

} // namespace pnmf
