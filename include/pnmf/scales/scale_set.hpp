#pragma once

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

struct ScaleOptions {
    ScaleStrategy strategy = ScaleStrategy::canonical;
    std::optional<Index> max_scales; ///< keep at most this many (≥ 2, or 1 when there is one), by `thin()`
    std::uint64_t seed = 0;          ///< for random and sufficient
};

/// Scales, finest first, strictly ascending; graphs join cells at distance < ε.
struct ScaleSet {
    std::vector<double> epsilon;
    std::vector<Index> multiplicity; ///< deaths at exactly this scale; 0 for the last and for non-canonical ones
    std::vector<Index> betti0;       ///< components of the graph at this scale

    Index size() const { return static_cast<Index>(epsilon.size()); }
};

ScaleSet choose_scales(const Points& points, const SpanningTree& tree, const ScaleOptions& options = {});

} // namespace pnmf
