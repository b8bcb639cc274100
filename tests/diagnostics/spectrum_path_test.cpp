#include "graphs/dense_graph.hpp"
#include "support/clouds.hpp"

#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

TEST(SpectrumPath, HoldsTheTheoremAlongTheCanonicalScalesOfEveryCloud) {
    for (const test::Cloud& cloud : test::all_clouds(24)) {
        const Points points(cloud.X);
        const SpanningTree tree = minimum_spanning_tree(points);
        const SortedEdges sorted = all_pairs(points);
        const DenseMultiscaleGraph graph(points, tree, 1.5);
        const auto epsilon = canonical_scales(tree).epsilon;
        if (epsilon.size() < 2) {
            continue;
        }
        const auto path = spectrum_path(graph, sorted, epsilon);
        EXPECT_TRUE(path.complete);
        const auto along = adjacent_lipschitz(sorted, 1.5, epsilon, 1000);
        const auto constants = lipschitz_constants(sorted, 1.5, sorted.distance_scales(complete_scale(tree)));
        for (const Finding& finding : findings(path, along.increment, along.gap, constants.C)) {
            EXPECT_EQ(finding.verdict, Verdict::holds)
                << cloud.name << ": " << finding.what << " " << finding.measured;
        }
    }
}

TEST(SpectrumPath, ByLanczosHasTheEndsOfTheWholeSpectrum) {
    const Points points(test::uniform_cloud(3, 60, 3));
    const SpanningTree tree = minimum_spanning_tree(points);
    const SortedEdges sorted = all_pairs(points);
    const DenseMultiscaleGraph graph(points, tree, 1.5);
    const auto epsilon = thin(canonical_scales(tree), 12).epsilon;
    const auto whole = spectrum_path(graph, sorted, epsilon);
    const auto ends = spectrum_path(graph, sorted, epsilon, {.most_work = 0.0, .whole_component = 8});
    ASSERT_TRUE(whole.complete);
    ASSERT_FALSE(ends.complete);
    EXPECT_EQ(ends.not_converged, 0);
    EXPECT_EQ(ends.kernel, whole.kernel);
    for (std::size_t t = 0; t < epsilon.size(); ++t) {
        const double size = 1e-7 * std::max(whole.largest[t], 1e-12);
        EXPECT_NEAR(ends.largest[t], whole.largest[t], size);
        EXPECT_EQ(std::isnan(ends.smallest_positive[t]), std::isnan(whole.smallest_positive[t]));
        if (!std::isnan(whole.smallest_positive[t])) {
            EXPECT_NEAR(ends.smallest_positive[t], whole.smallest_positive[t], size) << t;
        }
    }
}

TEST(SpectrumPath, ScalesInTheWrongOrderBreakTheTheorem) {
    const Points points(test::uniform_cloud(3, 20, 9));
    const SpanningTree tree = minimum_spanning_tree(points);
    const SortedEdges sorted = all_pairs(points);
    const DenseMultiscaleGraph graph(points, tree, 1.5);
    auto epsilon = canonical_scales(tree).epsilon;
    std::swap(epsilon[5], epsilon[15]);
    const auto path = spectrum_path(graph, sorted, epsilon);
    const std::vector<double> large(epsilon.size(), 1e3);
    Index failures = 0;
    for (const Finding& finding : findings(path, large, large, 1e3)) {
        failures += finding.verdict == Verdict::fails ? 1 : 0;
    }
    EXPECT_GE(failures, 2); // an eigenvalue falls, and the kernel grows
}

} // namespace
} // namespace pnmf
