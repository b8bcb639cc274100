#pragma once

#include <pnmf/diagnostics/edge_walks.hpp>
#include <pnmf/diagnostics/finding.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Definitions *sufficient*, *minimal* and *canonical* of a set of scales, and theorem (critical_scale_set).
///
/// F(ε) = [H₀(𝒳(ε))] is given by β₀(ε), because H₀ is free of that rank. With strict `<`, F is constant on
/// the intervals (a, b] between consecutive merges.
struct ScaleSetProperties {
    Index states = 0;             ///< different values of F over all ε > 0
    Index covered = 0;            ///< of them, those that some scale has
    Index repeated = 0;           ///< scales whose value another scale has too
    Index not_at_a_jump = 0;      ///< scales, the last apart, that are no right end of an interval of F
    bool last_is_complete = true; ///< the last scale lies beyond every merge

    bool sufficient() const { return covered == states; }
    /// No proper subset is sufficient.
    bool minimal() const { return sufficient() && repeated == 0; }
    /// Minimal, and each scale ends an interval on which F is constant, after which it changes; the last
    /// scale, δ_max, stands for (d_{n−1}, ∞).
    bool canonical() const { return minimal() && not_at_a_jump == 0 && last_is_complete; }
};

/// Of ascending scales, from the merges alone.
ScaleSetProperties scale_set_properties(const ComponentCounts& counts, const std::vector<double>& epsilon);

/// Whether the graphs handed to a solver are those of the sorted edges.
struct NestedGraphs {
    std::vector<Index> components; ///< β₀ of each scale's graph
    std::vector<Index> edges;
    Index wrong_components = 0; ///< scales at which the graph's components are not β₀(ε)
    Index wrong_edges = 0;      ///< scales at which it has not the edges shorter than ε
    Index lost_edges = 0;       ///< scales with fewer edges than the one before
};

NestedGraphs nested_graphs(const MultiscaleGraph& graph, const SortedEdges& sorted,
                           const ComponentCounts& counts, const std::vector<double>& epsilon);

/// Λ* is sufficient, minimal, canonical; the graphs along the scales are nested and β₀ falls.
Findings findings(const ScaleSetProperties& canonical, const NestedGraphs& graphs);

} // namespace pnmf
