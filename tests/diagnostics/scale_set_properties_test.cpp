#include "graphs/dense_graph.hpp"
#include "support/clouds.hpp"

#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

struct Merges {
    Points points;
    SpanningTree tree;
    SortedEdges sorted;
    ComponentCounts counts;
    std::vector<double> canonical;

    explicit Merges(const Matrix& X)
        : points(X), tree(minimum_spanning_tree(points)), sorted(all_pairs(points)),
          counts(component_counts(sorted)), canonical(canonical_scales(tree).epsilon) {}
};

TEST(ComponentCounts, AreThoseOfTheDiagramAtEveryDistance) {
    for (const test::Cloud& cloud : test::all_clouds(24)) {
        const Merges merges(cloud.X);
        const Diagram diagram = h0_diagram(merges.tree);
        for (const double delta : merges.sorted.distance_scales(complete_scale(merges.tree))) {
            EXPECT_EQ(merges.counts.at(delta), betti0(diagram, delta)) << cloud.name;
        }
    }
}

TEST(ScaleSetProperties, CanonicalScalesAreCanonicalAndNoSubsetIsSufficient) {
    for (const test::Cloud& cloud : test::all_clouds(24)) {
        const Merges merges(cloud.X);
        EXPECT_TRUE(scale_set_properties(merges.counts, merges.canonical).canonical()) << cloud.name;
        for (std::size_t left_out = 0; left_out < merges.canonical.size(); ++left_out) {
            std::vector<double> fewer = merges.canonical;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
            EXPECT_FALSE(scale_set_properties(merges.counts, fewer).sufficient()) << cloud.name;
        }
    }
}

TEST(ScaleSetProperties, AllDistancesAreSufficientAndNotMinimal) {
    const Merges merges(test::uniform_cloud(3, 20, 1));
    const auto distances = merges.sorted.distance_scales(complete_scale(merges.tree));
    const auto properties = scale_set_properties(merges.counts, distances);
    EXPECT_TRUE(properties.sufficient());
    EXPECT_FALSE(properties.minimal());
    EXPECT_EQ(properties.repeated, static_cast<Index>(distances.size()) - 20);
}

TEST(ScaleSetProperties, AnArbitraryMinimalSetIsMinimalAndNotCanonical) {
    const Merges merges(test::uniform_cloud(3, 20, 2));
    const ScaleSet drawn =
        choose_scales(merges.points, merges.tree, {.strategy = ScaleStrategy::sufficient}, 5);
    const auto properties = scale_set_properties(merges.counts, drawn.epsilon);
    EXPECT_TRUE(properties.minimal());
    EXPECT_FALSE(properties.canonical());
    EXPECT_EQ(properties.not_at_a_jump, 19);
}

TEST(NestedGraphs, AreThoseOfTheFiltrationAlongEveryDistance) {
    for (const test::Cloud& cloud : test::all_clouds(20)) {
        const Merges merges(cloud.X);
        const DenseMultiscaleGraph graph(merges.points, merges.tree, 1.5);
        const auto distances = merges.sorted.distance_scales(complete_scale(merges.tree));
        const NestedGraphs nested = nested_graphs(graph, merges.sorted, merges.counts, distances);
        EXPECT_EQ(nested.wrong_components + nested.wrong_edges + nested.lost_edges, 0) << cloud.name;
        for (const Finding& finding :
             findings(scale_set_properties(merges.counts, merges.canonical),
                      nested_graphs(graph, merges.sorted, merges.counts, merges.canonical))) {
            EXPECT_EQ(finding.verdict, Verdict::holds) << cloud.name << ": " << finding.what;
        }
    }
}

TEST(NestedGraphs, OfOtherPointsAreFoundOut) {
    const Merges merges(test::uniform_cloud(3, 20, 3));
    const Merges others(test::uniform_cloud(3, 20, 4));
    const DenseMultiscaleGraph graph(others.points, others.tree, 1.5);
    const auto nested = nested_graphs(graph, merges.sorted, merges.counts, merges.canonical);
    EXPECT_GT(nested.wrong_components, 0);
    EXPECT_GT(nested.wrong_edges, 0);
}

} // namespace
} // namespace pnmf
