#include "support/clouds.hpp"

#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace pnmf {
namespace {

using test::all_clouds;

void expect_same_tree(const SpanningTree& found, const SpanningTree& expected, const std::string& name) {
    EXPECT_EQ(found.cells, expected.cells) << name;
    EXPECT_EQ(found.largest_distance, expected.largest_distance) << name;
    ASSERT_EQ(found.edges.size(), expected.edges.size()) << name;
    for (std::size_t e = 0; e < found.edges.size(); ++e) {
        ASSERT_EQ(found.edges[e], expected.edges[e]) << name << ", edge " << e;
    }
}

TEST(SpanningTree, EqualsKruskalOnAllEdges) {
    for (const Index cells : {1, 2, 3, 10, 150}) {
        for (const auto& [name, X] : all_clouds(cells)) {
            const Points points(X);
            expect_same_tree(minimum_spanning_tree(points), test::kruskal(points), name);
        }
    }
}

TEST(SpanningTree, UnderTheCosineMetricEqualsKruskalOnAllEdges) {
    for (const auto& [name, X] : all_clouds(120)) {
        const Points points(X.array() + 0.25, Metric::cosine);
        expect_same_tree(minimum_spanning_tree(points), test::kruskal(points), name);
    }
}

TEST(SpanningTree, OfSparseDataEqualsKruskalOnAllEdges) {
    for (const Index features : {2, 7, 40, 200}) {
        for (const Metric metric : {Metric::euclidean, Metric::cosine}) {
            SparseMatrix<double> X = test::sparse_cloud(features, 130, 0.1, 3);
            if (metric == Metric::cosine) {
                Matrix filled = to_dense(X);
                filled.row(0).array() += 1.0;
                X = test::to_sparse(filled);
            }
            const Points points(X, metric);
            expect_same_tree(minimum_spanning_tree(points), test::kruskal(points), "sparse");
        }
    }
}

TEST(SpanningTree, OfAUsersDistancesEqualsKruskalOnAllEdges) {
    Random random(11);
    const Index n = 90;
    Matrix distances = Matrix::Zero(n, n);
    for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < j; ++i) {
            distances(i, j) = distances(j, i) =
                static_cast<double>(random.below(40)); // no triangle inequality
        }
    }
    const Points points = Points::from_distances(distances);
    expect_same_tree(minimum_spanning_tree(points), test::kruskal(points), "own distances");
}

TEST(SpanningTree, OfMoreCellsThanABlockEqualsPrims) {
    for (const auto& [name, X] : all_clouds(1100)) {
        const Points points(X);
        expect_same_tree(minimum_spanning_tree(points), test::prim(points), name);
    }
    const Points sparse(test::sparse_cloud(60, 1100, 0.08, 12));
    expect_same_tree(minimum_spanning_tree(sparse), test::prim(sparse), "sparse");
}

TEST(SpanningTree, OfDenseAndSparseStorageIsTheSame) {
    const SparseMatrix<double> X = test::sparse_cloud(37, 140, 0.3, 13);
    expect_same_tree(minimum_spanning_tree(Points(X)), minimum_spanning_tree(Points(to_dense(X))), "storage");
}

TEST(SpanningTree, DoesNotDependOnTheNumberOfThreads) {
    const int before = thread_count();
    for (const auto& [name, X] : all_clouds(700)) {
        const Points points(X);
        set_thread_count(1);
        const SpanningTree one = minimum_spanning_tree(points);
        for (const int threads : {2, 4}) {
            set_thread_count(threads);
            expect_same_tree(minimum_spanning_tree(points), one, name);
        }
    }
    set_thread_count(before);
}

TEST(SpanningTree, HasTheSameDeathsWhenCellsAreReordered) {
    Random random(14);
    for (const auto& [name, X] : all_clouds(160)) {
        Matrix shuffled = X;
        for (Index j = X.cols() - 1; j > 0; --j) {
            shuffled.col(j).swap(shuffled.col(random.below(j + 1)));
        }
        EXPECT_EQ(h0_diagram(minimum_spanning_tree(Points(shuffled))).deaths,
                  h0_diagram(minimum_spanning_tree(Points(X))).deaths)
            << name;
    }
}

TEST(SpanningTree, DeathsMoveByNoMoreThanTheDistancesDo) {
    Random random(15);
    for (const double delta : {1e-6, 0.05, 0.4}) {
        for (const auto& [name, X] : all_clouds(60)) {
            const Points points(X);
            const Index n = points.count();
            Matrix before = Matrix::Zero(n, n);
            Matrix after = Matrix::Zero(n, n);
            for (Index j = 0; j < n; ++j) {
                for (Index i = 0; i < j; ++i) {
                    before(i, j) = before(j, i) = points.distance(i, j);
                    const double moved = before(i, j) + delta * (2.0 * random.uniform() - 1.0);
                    after(i, j) = after(j, i) = std::max(0.0, moved);
                }
            }
            const double largest_move = (after - before).cwiseAbs().maxCoeff();
            const auto old_deaths = h0_diagram(minimum_spanning_tree(Points::from_distances(before))).deaths;
            const auto new_deaths = h0_diagram(minimum_spanning_tree(Points::from_distances(after))).deaths;
            for (std::size_t t = 0; t < old_deaths.size(); ++t) {
                EXPECT_LE(std::abs(new_deaths[t] - old_deaths[t]), largest_move * (1.0 + 1e-12)) << name;
            }
        }
    }
}

} // namespace
} // namespace pnmf
