#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace pnmf {

ScaleSetProperties scale_set_properties(const ComponentCounts& counts, const std::vector<double>& epsilon) {
    // F is defined for ε > 0: what merges at 0, duplicated cells, is one component there already.
    std::set<Index> states{counts.last};
    for (std::size_t k = 0; k < counts.length.size(); ++k) {
        if (counts.length[k] > 0.0) {
            states.insert(counts.before[k]);
        }
    }
    ScaleSetProperties properties;
    properties.states = static_cast<Index>(states.size());
    std::set<Index> met;
    for (const double scale : epsilon) {
        properties.repeated += met.insert(counts.at(scale)).second ? 0 : 1;
    }
    properties.covered = static_cast<Index>(met.size());
    for (std::size_t t = 0; t + 1 < epsilon.size(); ++t) {
        properties.not_at_a_jump +=
            std::binary_search(counts.length.begin(), counts.length.end(), epsilon[t]) ? 0 : 1;
    }
    properties.last_is_complete = !epsilon.empty() && counts.at(epsilon.back()) == counts.last;
    return properties;
}

NestedGraphs nested_graphs(const MultiscaleGraph& graph, const SortedEdges& sorted,
                           const ComponentCounts& counts, const std::vector<double>& epsilon) {
    NestedGraphs nested;
    for (const double scale : epsilon) {
        const auto at = graph.at(scale);
        nested.components.push_back(component_count(components(graph.tree(), scale)));
        nested.wrong_components += nested.components.back() == counts.at(scale) ? 0 : 1;
        nested.wrong_edges += at->edges() == sorted.edges_below(scale) ? 0 : 1;
        nested.lost_edges += !nested.edges.empty() && at->edges() < nested.edges.back() ? 1 : 0;
        nested.edges.push_back(at->edges());
    }
    return nested;
}

Findings findings(const ScaleSetProperties& canonical, const NestedGraphs& graphs) {
    const std::string label = "thm:critical_scale_set";
    const auto T = static_cast<double>(graphs.components.size());
    const Index wrong = graphs.wrong_components + graphs.wrong_edges + graphs.lost_edges;
    Index steady = 0;
    for (std::size_t t = 1; t < graphs.components.size(); ++t) {
        steady += graphs.components[t] < graphs.components[t - 1] ? 0 : 1;
    }
    return {
        {.statement = label,
         .what = "the canonical scales are sufficient: they meet every value of beta_0",
         .measured = static_cast<double>(canonical.covered),
         .bound = static_cast<double>(canonical.states),
         .verdict = verdict_of(canonical.sufficient()),
         .note = "values of beta_0 met, of those there are"},
        {.statement = label,
         .what = "they are minimal: no two meet the same value",
         .measured = static_cast<double>(canonical.repeated),
         .bound = 0.0,
         .verdict = verdict_of(canonical.minimal()),
         .note = {}},
        {.statement = label,
         .what = "they are canonical: each ends an interval on which the homology is constant",
         .measured = static_cast<double>(canonical.not_at_a_jump),
         .bound = 0.0,
         .verdict = verdict_of(canonical.canonical()),
         .note = "scales, the last apart, after which nothing changes"},
        {.statement = "filtration",
         .what = "the graphs are nested, with the edges and components of the filtration",
         .measured = static_cast<double>(wrong),
         .bound = 0.0,
         .verdict = verdict_of(wrong == 0),
         .note = fmt::format("scales that break it, of {}", T)},
        {.statement = "filtration",
         .what = "beta_0 falls from each scale to the next",
         .measured = static_cast<double>(steady),
         .bound = 0.0,
         .verdict = verdict_of(steady == 0),
         .note = "scales at which it does not"},
    };
}

} // namespace pnmf
