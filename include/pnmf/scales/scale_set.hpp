#pragma once

#include <pnmf/names.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/persistence/spanning_tree.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
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
    std::vector<Index>
        wanted; ///< positions that few scales keep too, the most wanted first (`few_positions`)

    Index size() const { return static_cast<Index>(epsilon.size()); }
};

/// A full set of these scales: each stands for itself, β₀ by the tree, no multiplicities.
ScaleSet full_set(std::vector<double> epsilon, const SpanningTree& tree);

/// Cells up to which Δ* is kept in memory: 1.07 GB there.
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
/// ⌊k·(T − 1)/(count − 1) + ½⌋, k = 0 … count − 1, but for those that are wanted. In Λ* rank counts merges,
/// so each step merges about equally many components. All of them when count ≥ T; count = 1 only where T = 1.
ScaleSet thin(const ScaleSet& scales, Index count);

/// Positions of `count` of the scales that stand for all: evenly spaced, each wanted one in place of the
/// nearest.
std::vector<Index> few_positions(Index scales, const std::vector<Index>& wanted, Index count);

/// Some of the scales, at ascending positions, each standing for as many scales as its weight says.
ScaleSet keep_scales(const ScaleSet& scales, const std::vector<Index>& positions,
                     const std::vector<double>& weight);

/// For each of the ascending scales, the number of pairs at distance < ε. One pass over all pairs.
std::vector<Index> edge_counts(const Points& points, const std::vector<double>& epsilon);

/// How the scales are chosen (paper, section "Effect of Persistence-Based Scale Selection").
enum class ScaleStrategy {
    canonical,  ///< Λ*: the death times, then a scale at which the graph is complete
    uniform,    ///< UDS: evenly spaced in the sorted distance-scale set Δ*, with its smallest and largest
    random,     ///< RDS: drawn from Δ* without repetition, with its smallest and largest
    sufficient, ///< MSS: one uniform draw from each interval (ε_{t−1}, ε_t] of Λ*, ε₀ = 0
    /// For cells in a tissue: neighbourhoods of 0, 1, 2, 4, 8, … cells (`choose_neighborhoods`)
    neighborhoods,
    with_loops, ///< Λ* and the scales at which loops are born and die (`choose_with_loops`)
};

/// What a strategy may look at.
struct ScaleSource {
    const SpanningTree& tree;
    const Points* points = nullptr;     ///< null where a graph was given in place of points:
    const SortedEdges* edges = nullptr; ///< then its edges
    std::uint64_t seed = 0;
    const std::vector<Edge>* neighbors = nullptr; ///< edges to nearest neighbours, where they were searched
};

/// Δ* of the points, or of the edges where these were given.
std::vector<double> distance_scales(const ScaleSource& source);

// A file of src/scales/strategies each.
ScaleSet choose_canonical(const ScaleSource& source);
ScaleSet choose_uniform(const ScaleSource& source);
ScaleSet choose_random(const ScaleSource& source);
ScaleSet choose_sufficient(const ScaleSource& source);
/// A scale below the smallest distance, where no cell has a neighbour, and those of neighbourhoods that
/// double: ε is a tenth above the distance within which a cell has 1, 2, 4, … neighbours on average, up to
/// half of those that are listed. The tenth takes in a whole ring of a grid, whose distances are
/// equal but for rounding; a scale that the one before covers is left out.
/// Needs neighbours.
ScaleSet choose_neighborhoods(const ScaleSource& source);
/// Λ* and, for each loop that is more than chance, birth and death in the diagram of H1 of the points; of the
/// most persistent loop where none is. Graphs are strict, so the loop is there at its death and not at its
/// birth. Few scales keep these too. A loop is more than chance where p·m ≤ .05 for the m loops of the
/// diagram by the law that death/birth of loops of noise follows (Bobrowski and Skraba 2023, Sci. Rep.
/// 13:12274). Of more than 500 points, so many that are far from each other are looked at. Needs points.
ScaleSet choose_with_loops(const ScaleSource& source);

/// A strategy: what users call it, and the function that makes its full set. The set may have weights of its
/// own where a scale stands for more than one of Λ*.
struct ScaleStrategyRow {
    std::string_view name;
    ScaleStrategy strategy;
    ScaleSet (*choose)(const ScaleSource&);
};

/// The one table of strategies: flags, keyword arguments and results are made from it.
inline constexpr std::array scale_strategies{
    ScaleStrategyRow{"canonical", ScaleStrategy::canonical, choose_canonical},
    ScaleStrategyRow{"uniform", ScaleStrategy::uniform, choose_uniform},
    ScaleStrategyRow{"random", ScaleStrategy::random, choose_random},
    ScaleStrategyRow{"sufficient", ScaleStrategy::sufficient, choose_sufficient},
    ScaleStrategyRow{"neighborhoods", ScaleStrategy::neighborhoods, choose_neighborhoods},
    ScaleStrategyRow{"h0+h1", ScaleStrategy::with_loops, choose_with_loops},
};

template <>
struct EnumNames<ScaleStrategy> {
    static constexpr auto values = [] {
        std::array<std::pair<std::string_view, ScaleStrategy>, scale_strategies.size()> rows;
        std::transform(scale_strategies.begin(), scale_strategies.end(), rows.begin(),
                       [](const ScaleStrategyRow& row) { return std::pair(row.name, row.strategy); });
        return rows;
    }();
};

struct ScaleOptions {
    ScaleStrategy strategy = ScaleStrategy::canonical;
    std::optional<Index> max_scales{}; ///< keep at most this many (≥ 2, or 1 when there is one), by `thin()`
};

/// The scales of a strategy, thinned when `max_scales` asks for it. All strategies have as many as Λ*.
/// `uniform` and `random` hold Δ*, n(n − 1)/2 numbers, and refuse more than `largest_distance_set` cells.
/// The seed matters to `random` and `sufficient`.
ScaleSet choose_scales(const ScaleSource& source, const ScaleOptions& options = {});
ScaleSet choose_scales(const Points& points, const SpanningTree& tree, const ScaleOptions& options = {},
                       std::uint64_t seed = 0);

} // namespace pnmf
