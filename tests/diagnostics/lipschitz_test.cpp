#include "graphs/dense_graph.hpp"
#include "support/clouds.hpp"

#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/error.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

Matrix laplacian_of(const MultiscaleGraph& graph, double epsilon) {
    const auto scale = graph.at(epsilon);
    return Matrix(scale->degrees().asDiagonal()) - scale->adjacency();
}

TEST(SortedEdges, GivesTheLaplaciansOfTheGraphsAndTheNormsOfTheirDifferences) {
    for (const test::Cloud& cloud : test::all_clouds(20)) {
        const Points points(cloud.X);
        const SpanningTree tree = minimum_spanning_tree(points);
        const DenseMultiscaleGraph graph(points, tree, 1.5);
        const SortedEdges sorted = all_pairs(points);
        const auto epsilon = canonical_scales(tree).epsilon;
        for (std::size_t t = 1; t < epsilon.size(); ++t) {
            const Matrix L = laplacian_of(graph, epsilon[t]);
            const double rounding = 1e-13 * (1.0 + L.norm());
            EXPECT_LE((laplacian(sorted, 1.5, epsilon[t]) - L).norm(), rounding) << cloud.name;
            const double norm = (L - laplacian_of(graph, epsilon[t - 1])).norm();
            const auto increment = laplacian_increment(sorted, 1.5, epsilon[t - 1], epsilon[t]);
            EXPECT_NEAR(increment.norm, norm, rounding) << cloud.name;
            EXPECT_GE(increment.smallest_change, 0.0) << cloud.name;
        }
    }
}

TEST(WeightRate, IsTheSlopeOfTheWeight) {
    for (const double alpha : {0.7, 1.5, 2.0, 3.0}) {
        for (const double d : {0.2, 0.9, 2.0}) {
            const double epsilon = 2.5;
            const double step = 1e-6;
            const double slope =
                (EdgeWeight(epsilon + step, alpha)(d) - EdgeWeight(epsilon - step, alpha)(d)) / (2.0 * step);
            EXPECT_NEAR(weight_rate(d, epsilon, alpha), slope, 1e-8);
        }
    }
}

/// C₁ from all edges and many ε in every interval: never above the largest, and close to it.
double slow_C1(const SortedEdges& sorted, double alpha, const std::vector<double>& scales, int steps) {
    double largest = 0.0;
    for (std::size_t k = 0; k + 1 < scales.size(); ++k) {
        const Index edges = sorted.edges_below(scales[k + 1]);
        double rate = 0.0;
        for (int i = 0; i <= steps; ++i) {
            const double epsilon = scales[k] + (scales[k + 1] - scales[k]) * i / steps;
            for (Index e = 0; e < edges; ++e) {
                rate = std::max(rate, weight_rate(sorted.edges[e].length, epsilon, alpha));
            }
        }
        largest = std::max(largest, std::sqrt(2.0 * static_cast<double>(edges)) * rate);
    }
    return largest;
}

TEST(LipschitzConstants, AreTheLargestRateOverEdgesAndScales) {
    for (const double unit :
         {0.05, 1.0, 30.0}) { // the best ε of an edge lies below, in and above its interval
        for (const double alpha : {0.7, 1.5, 3.0}) {
            const Points points(unit * test::uniform_cloud(2, 16, 6));
            const SpanningTree tree = minimum_spanning_tree(points);
            const SortedEdges sorted = all_pairs(points);
            const auto scales = sorted.distance_scales(complete_scale(tree));
            const double slow = slow_C1(sorted, alpha, scales, 50);
            const auto constants = lipschitz_constants(sorted, alpha, scales);
            EXPECT_GE(constants.C1, slow * (1.0 - 1e-12)) << unit << ", alpha " << alpha;
            EXPECT_LE(constants.C1, slow * 1.01) << unit << ", alpha " << alpha;
            EXPECT_NEAR(constants.C, 5.0 * (constants.C1 + constants.C2), 1e-9 * constants.C);
        }
    }
}

TEST(LipschitzConstants, FindTheLargestRateInsideAWideInterval) {
    Matrix X(1, 3);
    X << 0.0, 30.0, 1000.0; // between 30 and 970 the only edge is steepest at 66, inside
    const Points points(X);
    const SortedEdges sorted = all_pairs(points);
    const auto scales = sorted.distance_scales(complete_scale(minimum_spanning_tree(points)));
    const double slow = slow_C1(sorted, 1.5, scales, 5000);
    EXPECT_NEAR(lipschitz_constants(sorted, 1.5, scales).C1, slow, 1e-4 * slow);
}

TEST(Lipschitz, TheBoundsOfBothTheoremsHoldOnEveryCloud) {
    for (const test::Cloud& cloud : test::all_clouds(20)) {
        for (const double alpha : {0.7, 1.5, 3.0}) {
            const Points points(cloud.X);
            const SpanningTree tree = minimum_spanning_tree(points);
            const SortedEdges sorted = all_pairs(points);
            const auto distances = sorted.distance_scales(complete_scale(tree));
            const auto epsilon = canonical_scales(tree).epsilon;
            const auto piecewise = piecewise_lipschitz(sorted, alpha, distances, 500);
            EXPECT_LE(piecewise.largest_ratio, 1.0 + 1e-9) << cloud.name;
            const auto constants = lipschitz_constants(sorted, alpha, distances);
            const auto along = adjacent_lipschitz(sorted, alpha, epsilon, 500);
            EXPECT_LE(along.largest_slope(), constants.C * (1.0 + 1e-9)) << cloud.name;
            EXPECT_EQ(along.checked, static_cast<Index>(epsilon.size()) - 1);
        }
    }
}

TEST(PiecewiseLipschitz, TheMeasuredSlopeIsMoreThanAThousandthOfItsBound) {
    // A bound that is far away from everything would be met by wrong numbers too.
    const Points points(test::uniform_cloud(2, 30, 8));
    const SortedEdges sorted = all_pairs(points);
    const auto scales = sorted.distance_scales(complete_scale(minimum_spanning_tree(points)));
    EXPECT_GT(piecewise_lipschitz(sorted, 1.5, scales, 100).largest_ratio, 1e-3);
}

} // namespace
} // namespace pnmf
