#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace pnmf {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Case {
    std::string name;
    Points points;
    SpanningTree tree;
    Diagram diagram;
};

std::vector<Case> small_cases() {
    std::vector<Case> cases;
    for (const Index cells : {1, 2, 3, 25}) {
        for (const auto& [name, X] : test::all_clouds(cells)) {
            Points points(X);
            SpanningTree tree = minimum_spanning_tree(points);
            Diagram diagram = h0_diagram(tree);
            cases.push_back({name + " " + std::to_string(cells), points, tree, diagram});
        }
    }
    return cases;
}

/// The paper's F(ε), up to isomorphism, at every ε > 0: β₀ is constant between consecutive distances, so the
/// distances, a number below the smallest and one above the largest meet each of its pieces.
std::set<Index> betti_numbers(const Case& c) {
    std::set<double> places{infinity};
    for (Index j = 0; j < c.points.count(); ++j) {
        for (Index i = 0; i < j; ++i) {
            const double d = c.points.distance(i, j);
            if (d > 0.0) {
                places.insert(d);
                places.insert(std::nextafter(d, infinity));
            }
        }
    }
    places.insert(*places.begin() == infinity ? 1.0 : 0.5 * *places.begin());
    std::set<Index> values;
    for (const double epsilon : places) {
        values.insert(betti0(c.diagram, epsilon));
    }
    return values;
}

std::set<Index> betti_numbers(const Case& c, const std::vector<double>& epsilon) {
    std::set<Index> values;
    for (const double e : epsilon) {
        values.insert(betti0(c.diagram, e));
    }
    return values;
}

void expect_minimal_and_sufficient(const Case& c, const std::vector<double>& epsilon) {
    EXPECT_TRUE(std::is_sorted(epsilon.begin(), epsilon.end(), std::less_equal<>())) << c.name;
    EXPECT_GT(epsilon.front(), 0.0) << c.name;
    EXPECT_EQ(betti_numbers(c, epsilon), betti_numbers(c)) << c.name;
    for (std::size_t t = 0; t < epsilon.size(); ++t) {
        std::vector<double> without = epsilon;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(t));
        EXPECT_NE(betti_numbers(c, without), betti_numbers(c)) << c.name << ", without scale " << t;
    }
}

TEST(CanonicalScales, AreAMinimalSufficientSet) {
    for (const Case& c : small_cases()) {
        expect_minimal_and_sufficient(c, choose_scales(c.points, c.tree).epsilon);
    }
}

TEST(CanonicalScales, EndAnIntervalOnWhichNothingChangesAndTheNextOneDiffers) {
    for (const Case& c : small_cases()) {
        const ScaleSet scales = canonical_scales(c.tree);
        double below = 0.0;
        for (Index t = 0; t < scales.size(); ++t) {
            const double epsilon = scales.epsilon[t];
            const Index value = betti0(c.diagram, epsilon);
            EXPECT_EQ(betti0(c.diagram, std::nextafter(below, infinity)), value) << c.name;
            EXPECT_EQ(betti0(c.diagram, 0.5 * (below + epsilon)), value) << c.name;
            if (t + 1 < scales.size()) {
                EXPECT_LT(betti0(c.diagram, std::nextafter(epsilon, infinity)), value) << c.name;
            }
            below = epsilon;
        }
    }
}

TEST(CanonicalScales, CarryTheirMultiplicitiesAndBettiNumbers) {
    for (const Case& c : small_cases()) {
        const ScaleSet scales = canonical_scales(c.tree);
        Index deaths = duplicates(c.tree);
        for (Index t = 0; t < scales.size(); ++t) {
            EXPECT_EQ(scales.betti0[t], c.points.count() - deaths) << c.name;
            EXPECT_EQ(scales.multiplicity[t] > 0, t + 1 < scales.size()) << c.name;
            deaths += scales.multiplicity[t];
        }
        EXPECT_EQ(deaths, c.points.count() - 1) << c.name;
    }
}

TEST(CanonicalScales, EndWithACompleteGraph) {
    for (const double size : {1e-30, 1.0, 1e4, 1e12, 1e100}) {
        const Points points(size * test::uniform_cloud(3, 20, 51));
        const SpanningTree tree = minimum_spanning_tree(points);
        const ScaleSet scales = canonical_scales(tree);
        EXPECT_GT(scales.epsilon.back(), tree.largest_distance);
        EXPECT_LE(scales.epsilon.back(),
                  std::max(tree.largest_distance + 1e-9, tree.largest_distance * (1 + 1e-15)));
        EXPECT_EQ(edge_counts(points, scales.epsilon).back(), 190);
    }
}

TEST(CanonicalScales, OfOneCellAndOfEqualCellsAreOne) {
    for (const Matrix& X : {Matrix(Matrix::Ones(2, 1)), Matrix(Matrix::Ones(2, 7))}) {
        const Points points(X);
        const ScaleSet scales = choose_scales(points, minimum_spanning_tree(points));
        EXPECT_EQ(scales.epsilon, std::vector<double>{1e-9});
        EXPECT_EQ(scales.betti0, std::vector<Index>{1});
        EXPECT_EQ(scales.multiplicity, std::vector<Index>{0});
    }
}

TEST(SufficientScales, AreMinimalSufficientOneInEachCanonicalInterval) {
    for (const Case& c : small_cases()) {
        const ScaleSet canonical = canonical_scales(c.tree);
        for (const std::uint64_t seed : {0U, 1U, 2U}) {
            const ScaleOptions options{.strategy = ScaleStrategy::sufficient};
            const ScaleSet scales = choose_scales(c.points, c.tree, options, seed);
            ASSERT_EQ(scales.size(), canonical.size());
            for (Index t = 0; t < scales.size(); ++t) {
                EXPECT_GT(scales.epsilon[t], t == 0 ? 0.0 : canonical.epsilon[t - 1]) << c.name;
                EXPECT_LE(scales.epsilon[t], canonical.epsilon[t]) << c.name;
            }
            EXPECT_EQ(scales.betti0, canonical.betti0) << c.name;
            expect_minimal_and_sufficient(c, scales.epsilon);
        }
    }
}

TEST(SufficientScales, DoNotTakeTheOpenEndOfIntervalsOfOneNumber) {
    // Deaths that are neighbouring floating-point numbers: each interval holds its upper end alone.
    SpanningTree tree;
    tree.cells = 4;
    tree.largest_distance = 1.0;
    for (Index i = 0; i < 3; ++i) {
        tree.largest_distance = std::nextafter(tree.largest_distance, 2.0);
        tree.edges.push_back({tree.largest_distance, i, i + 1});
    }
    const Points points(test::uniform_cloud(1, 4, 52)); // not looked at
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const ScaleSet scales = choose_scales(points, tree, {.strategy = ScaleStrategy::sufficient}, seed);
        EXPECT_EQ(scales.epsilon[1], tree.edges[1].length);
        EXPECT_EQ(scales.epsilon[2], tree.edges[2].length);
    }
}

TEST(DistanceScales, AreTheDistinctPositiveDistancesAndACompleteScale) {
    for (const Case& c : small_cases()) {
        std::set<double> expected{complete_scale(c.tree)};
        for (Index j = 0; j < c.points.count(); ++j) {
            for (Index i = 0; i < j; ++i) {
                expected.insert(c.points.distance(i, j));
            }
        }
        expected.erase(0.0);
        EXPECT_EQ(distance_scales(c.points, c.tree), std::vector<double>(expected.begin(), expected.end()))
            << c.name;
    }
}

TEST(UniformAndRandomScales, AreAsManyAsTheCanonicalOnesFromTheDistancesWithBothEnds) {
    for (const Case& c : small_cases()) {
        const std::vector<double> distances = distance_scales(c.points, c.tree);
        for (const ScaleStrategy strategy : {ScaleStrategy::uniform, ScaleStrategy::random}) {
            const ScaleSet scales = choose_scales(c.points, c.tree, {.strategy = strategy}, 3);
            EXPECT_EQ(scales.size(), canonical_scales(c.tree).size()) << c.name;
            EXPECT_EQ(std::set<double>(scales.epsilon.begin(), scales.epsilon.end()).size(),
                      scales.epsilon.size());
            EXPECT_TRUE(std::includes(distances.begin(), distances.end(), scales.epsilon.begin(),
                                      scales.epsilon.end()))
                << c.name;
            EXPECT_EQ(scales.epsilon.front(), distances.front()) << c.name;
            EXPECT_EQ(scales.epsilon.back(), distances.back()) << c.name;
            for (Index t = 0; t < scales.size(); ++t) {
                EXPECT_EQ(scales.betti0[t], betti0(c.diagram, scales.epsilon[t]));
            }
        }
    }
}

TEST(UniformScales, AreEvenlySpacedInRank) {
    const Points points(test::uniform_cloud(2, 30, 53));
    const SpanningTree tree = minimum_spanning_tree(points);
    const std::vector<double> distances = distance_scales(points, tree); // 436 for 30 scales
    const ScaleSet scales = choose_scales(points, tree, {.strategy = ScaleStrategy::uniform}, 0);
    for (Index t = 0; t < scales.size(); ++t) {
        const auto rank =
            std::lower_bound(distances.begin(), distances.end(), scales.epsilon[t]) - distances.begin();
        EXPECT_NEAR(static_cast<double>(rank), static_cast<double>(t) * 435.0 / 29.0, 0.5);
    }
}

TEST(RandomScales, DependOnTheSeedAloneAndReachEveryDistance) {
    const Points points(test::uniform_cloud(2, 8, 54));
    const SpanningTree tree = minimum_spanning_tree(points);
    const auto draw = [&](std::uint64_t seed) {
        return choose_scales(points, tree, {.strategy = ScaleStrategy::random}, seed).epsilon;
    };
    EXPECT_EQ(draw(7), draw(7));
    EXPECT_NE(draw(7), draw(8));
    std::set<double> reached;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        for (const double epsilon : draw(seed)) {
            reached.insert(epsilon);
        }
    }
    EXPECT_EQ(reached.size(), distance_scales(points, tree).size());
}

TEST(ThinnedScales, KeepTheEndsAndAreEvenlySpacedInRank) {
    const Points points(test::uniform_cloud(2, 30, 55));
    const SpanningTree tree = minimum_spanning_tree(points);
    const ScaleSet all = canonical_scales(tree);
    for (Index count = 2; count <= 30; ++count) {
        const ScaleSet kept = choose_scales(points, tree, {.max_scales = count});
        ASSERT_EQ(kept.size(), count);
        for (Index k = 0; k < count; ++k) {
            const auto rank =
                std::find(all.epsilon.begin(), all.epsilon.end(), kept.epsilon[k]) - all.epsilon.begin();
            EXPECT_NEAR(static_cast<double>(rank),
                        static_cast<double>(k * 29) / static_cast<double>(count - 1), 0.5);
            EXPECT_EQ(kept.betti0[k], all.betti0[rank]);
            EXPECT_EQ(kept.multiplicity[k], all.multiplicity[rank]);
        }
        EXPECT_EQ(kept.epsilon.front(), all.epsilon.front());
        EXPECT_EQ(kept.epsilon.back(), all.epsilon.back());
    }
    EXPECT_EQ(thin(all, 31).epsilon, all.epsilon);
    EXPECT_EQ(all.weight, std::vector<double>(all.epsilon.size(), 1.0));
    EXPECT_EQ(all.available, all.size());
    EXPECT_EQ(thin(all, 4).weight, std::vector<double>(4, static_cast<double>(all.size() - 1) / 3.0));
    EXPECT_EQ(thin(thin(all, 9), 4).available, all.size());
    EXPECT_THROW(thin(all, 1), InputError);
    EXPECT_THROW(choose_scales(points, tree, {.max_scales = 0}), InputError);
}

TEST(ScaleStrategies, AreOfferedByNameAndMakeFullSetsOfAsManyScalesAsLambda) {
    EXPECT_EQ(joined_names<ScaleStrategy>(" "), "canonical uniform random sufficient neighborhoods h0+h1");
    const Points points(test::uniform_cloud(2, 30, 4));
    const SpanningTree tree = minimum_spanning_tree(points);
    for (const ScaleStrategyRow& row : scale_strategies) {
        EXPECT_EQ(name_of(row.strategy), row.name);
        if (row.strategy == ScaleStrategy::neighborhoods || row.strategy == ScaleStrategy::with_loops) {
            continue; // few scales, of neighbours; more than those of Λ*
        }
        const ScaleSet direct = row.choose({.tree = tree, .points = &points, .seed = 2});
        EXPECT_EQ(choose_scales(points, tree, {.strategy = row.strategy}, 2).epsilon, direct.epsilon);
        EXPECT_EQ(direct.size(), canonical_scales(tree).size()) << row.name;
        EXPECT_EQ(direct.available, direct.size());
        EXPECT_EQ(direct.weight, std::vector<double>(direct.epsilon.size(), 1.0));
    }
}

TEST(ScaleStrategies, OfAllEdgesAreThoseOfThePoints) {
    const Points points(test::lattice_cloud(2, 30, 4, 3));
    const SpanningTree tree = minimum_spanning_tree(points);
    const SortedEdges edges = all_pairs(points);
    for (const ScaleStrategyRow& row : scale_strategies) {
        if (row.strategy == ScaleStrategy::neighborhoods || row.strategy == ScaleStrategy::with_loops) {
            continue; // neither is of edges alone
        }
        EXPECT_EQ(row.choose({.tree = tree, .edges = &edges, .seed = 2}).epsilon,
                  row.choose({.tree = tree, .points = &points, .seed = 2}).epsilon)
            << row.name;
    }
}

TEST(EdgeCounts, AreTheNumbersOfPairsBelowEachScale) {
    std::vector<Case> cases = small_cases();
    for (const auto& [name, X] : test::all_clouds(600)) {
        const Points points(X);
        const SpanningTree tree = minimum_spanning_tree(points);
        cases.push_back({name, points, tree, h0_diagram(tree)});
    }
    const Points sparse(test::sparse_cloud(30, 500, 0.1, 56));
    const SpanningTree sparse_tree = minimum_spanning_tree(sparse);
    cases.push_back({"sparse", sparse, sparse_tree, h0_diagram(sparse_tree)});
    for (const Case& c : cases) {
        const std::vector<double> epsilon = canonical_scales(c.tree).epsilon;
        std::vector<double> all;
        for (Index j = 0; j < c.points.count(); ++j) {
            for (Index i = 0; i < j; ++i) {
                all.push_back(c.points.distance(i, j));
            }
        }
        std::sort(all.begin(), all.end());
        const std::vector<Index> counts = edge_counts(c.points, epsilon);
        ASSERT_EQ(counts.size(), epsilon.size());
        for (std::size_t t = 0; t < epsilon.size(); ++t) {
            ASSERT_EQ(counts[t], std::lower_bound(all.begin(), all.end(), epsilon[t]) - all.begin())
                << c.name;
        }
    }
}

} // namespace
} // namespace pnmf
