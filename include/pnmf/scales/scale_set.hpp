#pragma once

#include <pnmf/names.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace pnmf {

/// How the scales are chosen (paper, section "Effect of Persistence-Based Scale Selection").
enum class ScaleStrategy {
    canonical,  ///< Λ*: the death times, then a scale at which the graph is complete
    uniform,    ///< UDS: evenly spaced in the sorted distance-scale set Δ*, with its smallest and largest
    random,     ///< RDS: drawn from Δ* without repetition, with its smallest and largest
    sufficient, ///< MSS: one uniform draw from each interval (ε_{t−1}, ε_t] of Λ*, ε₀ = 0
};

template <>
struct EnumNames<ScaleStrategy> {
    static constexpr auto values = name_table<ScaleStrategy>({{"canonical", ScaleStrategy::canonical},
                                                              {"uniform", ScaleStrategy::uniform},
                                                              {"random", ScaleStrategy::random},
                                                              {"sufficient", ScaleStrategy::sufficient}});
};

struct ScaleOptions {
    ScaleStrategy strategy = ScaleStrategy::canonical;
    std::optional<Index> max_scales{}; ///< keep at most this many (≥ 2, or 1 when there is one), by `thin()`
    std::uint64_t seed = 0;            ///< for random and sufficient
};

/// Scales, finest first, strictly ascending, all positive; graphs join cells at distance < ε.
struct ScaleSet {
    std::vector<double> epsilon;
    std::vector<Index>
        multiplicity;          ///< deaths at exactly this scale; 0 for the last and for non-canonical ones
    std::vector<Index> betti0; ///< components of the graph at this scale
    double stride = 1.0;       ///< of how many scales of the set it was thinned from each one stands for

    Index size() const { return static_cast<Index>(epsilon.size()); }
};

/// The scales of a strategy, thinned when `max_scales` asks for it. All strategies have as many as Λ*.
/// `uniform` and `random` hold Δ*, n(n − 1)/2 numbers, and refuse more than `largest_distance_set` cells.
ScaleSet choose_scales(const Points& points, const SpanningTree& tree, const ScaleOptions& options = {});

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

/// For each of the ascending scales, the number of pairs at distance < ε. One pass over all pairs.
std::vector<Index> edge_counts(const Points& points, const std::vector<double>& epsilon);

} // namespace pnmf
