#pragma once

#include <pnmf/persistence/diagram.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Scales, finest first, strictly ascending, all positive; graphs join cells at distance < ε.
struct ScaleSet {
    std::vector<double> epsilon;
    std::vector<Index>
        multiplicity;           ///< deaths at exactly this scale; 0 for the last and for non-canonical ones
    std::vector<Index> betti0;  ///< components of the graph at this scale
    std::vector<double> weight; ///< of how many scales of the full set each one stands for; 1 in a full set
    Index available = 0;        ///< scales of the full set: as many as here unless some were left out

    Index size() const { return static_cast<Index>(epsilon.size()); }
};

/// A full set of these scales: each stands for itself, β₀ by the tree, no multiplicities.
ScaleSet full_set(std::vector<double> epsilon, const SpanningTree& tree);

/// Cells up to which Δ* is held in memory: 1.07 GB there.
inline constexpr Index largest_distance_set = 16384;

/// δ_max, the last scale of Λ* and Δ*: the largest distance + 1e-9, or the next number above it where that
/// margin is lost in rounding. The graph there is complete.
double complete_scale(const SpanningTree& tree);

/// Λ*: the distinct positive deaths, ascending, then δ_max. Equal deaths are one scale with its multiplicity.
/// Deaths at 0 (duplicated cells) are no scales, Λ* ⊂ ℝ⁺: at every ε > 0 duplicates are joined already.
ScaleSet canonical_scales(const SpanningTree& tree);

/// Δ*: the distinct positive distances, ascending, then δ_max. O(n²) memory.
std::vector<double> distance_scales(const Points& points, const SpanningTree& tree);

/// Deaths at 0: cells less distinct cells.
Index duplicates(const SpanningTree& tree);

/// `count` of the scales, evenly spaced in rank with the finest and the coarsest kept: positions
/// ⌊k·(T − 1)/(count − 1) + ½⌋, k = 0 … count − 1. In Λ* rank counts merges, so each step merges about
/// equally many components. All of them when count ≥ T; count = 1 only where T = 1.
ScaleSet thin(const ScaleSet& scales, Index count);

/// Some of the scales, at ascending positions, each standing for as many scales as its weight says.
ScaleSet keep_scales(const ScaleSet& scales, const std::vector<Index>& positions,
                     const std::vector<double>& weight);

/// For each of the ascending scales, the number of pairs at distance < ε. One pass over all pairs.
std::vector<Index> edge_counts(const Points& points, const std::vector<double>& epsilon);

} // namespace pnmf
