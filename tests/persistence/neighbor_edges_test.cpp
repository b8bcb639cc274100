#include "graphs/sparse_graph.hpp"
#include "support/graph_clouds.hpp"
#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>
#include <pnmf/scales/scale_set.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <variant>

namespace pnmf {
namespace {

/// Cells in ten groups, in as many features as one likes.
Matrix groups(Index features, Index cells, std::uint64_t seed) {
    const Matrix centres = 3.0 * test::random_matrix(features, 10, seed);
    Matrix X = test::random_matrix(features, cells, seed + 1);
    for (Index j = 0; j < cells; ++j) {
        X.col(j) += centres.col(j % 10);
    }
    return X;
}

/// The k nearest of one cell, by sorting; equal ones by the smaller cell.
std::vector<Edge> nearest_by_sorting(const Points& points, Index cell, Index k) {
    std::vector<std::pair<double, Index>> others;
    for (Index i = 0; i < points.count(); ++i) {
        if (i != cell) {
            others.emplace_back(points.distance(i, cell), i);
        }
    }
    std::sort(others.begin(), others.end());
    std::vector<Edge> edges;
    for (Index r = 0; r < k; ++r) {
        edges.push_back(
            {others[r].first, std::min(cell, others[r].second), std::max(cell, others[r].second)});
    }
    return edges;
}

constexpr NeighborSearch approximate_searches[] = {NeighborSearch::screened, NeighborSearch::clustered};

std::vector<std::pair<NeighborSearch, Index>> approximate_searches_by_features() {
    std::vector<std::pair<NeighborSearch, Index>> all;
    for (const NeighborSearch search : approximate_searches) {
        for (const Index features : {3, 40, 600}) { // the last is projected
            all.emplace_back(search, features);
        }
    }
    return all;
}

/// log10(1 + x), then columns of length 1.
SparseMatrix<double> log_unit(SparseMatrix<double> X) {
    for (Index j = 0; j < X.cols; ++j) {
        Eigen::Map<Eigen::ArrayXd> column(X.value.data() + X.start[j], X.start[j + 1] - X.start[j]);
        column = (1.0 + column).log10();
        column /= column.matrix().norm();
    }
    return X;
}

std::set<Edge> all_by_sorting(const Points& points, Index k) {
    std::set<Edge> edges;
    for (Index j = 0; j < points.count(); ++j) {
        for (const Edge& edge : nearest_by_sorting(points, j, k)) {
            edges.insert(edge);
        }
    }
    return edges;
}

TEST(NeighborEdges, ExactOnesAreThoseFoundBySorting) {
    for (const test::Cloud& cloud : test::clouds()) {
        const Points points(cloud.X);
        for (const Index k : {Index{1}, Index{5}, points.count() - 1}) {
            if (k < 1 || k >= points.count()) {
                continue;
            }
            const NeighborEdges found =
                neighbor_edges(points, {.neighbors = k, .search = NeighborSearch::exact});
            const std::set<Edge> expected = all_by_sorting(points, k);
            EXPECT_EQ(found.edges, std::vector<Edge>(expected.begin(), expected.end()))
                << cloud.name << ", " << k;
            EXPECT_EQ(found.recall, 1.0);
            EXPECT_EQ(found.search, NeighborSearch::exact);
        }
    }
}

TEST(NeighborEdges, ApproximateOnesHaveCanonicalLengthsAndTheRecallThatSortingFinds) {
    for (const auto& [search, features] : approximate_searches_by_features()) {
        const Points points(groups(features, 180, 1)); // fewer than the sample, so that all cells are in it
        const Index k = 10;
        const NeighborEdges found = neighbor_edges(points, {.neighbors = k, .search = search});
        EXPECT_EQ(found.search, search);
        EXPECT_EQ(found.sampled, points.count());
        EXPECT_GE(found.recall, 0.95) << features;
        const std::set<Edge> edges(found.edges.begin(), found.edges.end());
        EXPECT_EQ(edges.size(), found.edges.size());
        EXPECT_TRUE(std::is_sorted(found.edges.begin(), found.edges.end()));
        for (const Edge& edge : found.edges) {
            EXPECT_LT(edge.i, edge.j);
            EXPECT_EQ(edge.length, points.distance(edge.i, edge.j));
        }
        Index present = 0;
        for (Index j = 0; j < points.count(); ++j) {
            for (const Edge& edge : nearest_by_sorting(points, j, k)) {
                present += edges.count(edge) > 0 ? 1 : 0;
            }
        }
        // An edge may be present because the other end found it, so this share is at least the recall.
        EXPECT_GE(static_cast<double>(present) / static_cast<double>(k * points.count()),
                  found.recall - 1e-12);
    }
}

TEST(NeighborEdges, ScreenedOnesOfSimulatedCellsAreAtLeast95PercentOfTheTrueOnes) {
    const CellsOptions options{.cells = 3000, .seed = 8};
    const SimulatedCells cells = simulate_cells(make_cell_model(options), 0, options.cells);
    const NeighborEdges found =
        neighbor_edges(Points(log_unit(cells.counts)), {.search = NeighborSearch::screened});
    EXPECT_EQ(found.sampled, 200);
    EXPECT_GE(found.recall, 0.95); // the 240 candidates are a twelfth of all cells
}

TEST(NeighborEdges, ScreenedOnesOfKangsCellsAreAtLeast95PercentOfTheTrueOnes) {
    const auto folder = test::shared_data("Kang_PBMC_12261");
    if (!folder) {
        GTEST_SKIP() << test::missing_data("Kang_PBMC_12261");
    }
    const Dataset data = read_dataset(*folder);
    const Points points(log_unit(std::get<SparseMatrix<double>>(data.X)));
    const NeighborEdges found = neighbor_edges(points, {.search = NeighborSearch::screened});
    EXPECT_GE(found.recall, 0.95);
}

TEST(NeighborEdges, SparseAndDenseCellsHaveTheSameApproximateOnes) {
    // The search spaces differ in the last bits; with candidates to spare that moves no neighbour.
    const CellsOptions options{.cells = 700, .genes = 300, .seed = 9};
    const SparseMatrix<double> X =
        log_unit(simulate_cells(make_cell_model(options), 0, options.cells).counts);
    for (const Metric metric : {Metric::euclidean, Metric::cosine}) {
        const NeighborOptions search{.neighbors = 10, .search = NeighborSearch::screened};
        EXPECT_EQ(neighbor_edges(Points(X, metric), search).edges,
                  neighbor_edges(Points(to_dense(X), metric), search).edges);
    }
}

TEST(NeighborEdges, DuplicatedCellsAreFoundApproximatelyToo) {
    Matrix X = groups(5, 400, 2);
    X.rightCols(200) = X.leftCols(200);
    const Points points(X);
    for (const NeighborSearch search : approximate_searches) {
        const NeighborEdges found = neighbor_edges(points, {.neighbors = 1, .search = search});
        EXPECT_EQ(std::count_if(found.edges.begin(), found.edges.end(),
                                [](const Edge& e) { return e.length == 0.0; }),
                  200);
    }
}

TEST(NeighborEdges, ApproximateOnesDependOnTheSeedAloneAndNotOnThreads) {
    const Points points(groups(300, 1000, 3));
    const int threads_before = thread_count();
    for (const NeighborSearch search : approximate_searches) {
        std::vector<NeighborEdges> results;
        for (const int threads : {1, 2, 4}) {
            set_thread_count(threads);
            results.push_back(neighbor_edges(points, {.neighbors = 8, .search = search, .seed = 5}));
        }
        set_thread_count(threads_before);
        EXPECT_EQ(results[1].edges, results[0].edges);
        EXPECT_EQ(results[2].edges, results[0].edges);
        EXPECT_EQ(results[2].recall, results[0].recall);
        EXPECT_EQ(results[0].sampled, 200);
    }
}

TEST(NeighborEdges, GraphsFromThemHaveExactComponentsHoweverFewAreFound) {
    const Points points(groups(30, 120, 4));
    const SpanningTree tree = minimum_spanning_tree(points);
    const NeighborEdges found = neighbor_edges(points, {.neighbors = 2, .search = NeighborSearch::screened});
    const SparseMultiscaleGraph graph(tree, found.edges, 1.5);
    for (const double epsilon : canonical_scales(tree).epsilon) {
        const auto scale = graph.at(epsilon);
        EXPECT_EQ(test::kernel_dimension(test::spectrum(test::laplacian(scale->adjacency()))),
                  betti0(h0_diagram(tree), epsilon));
    }
}

TEST(NeighborEdges, TooManyNeighboursAndSearchesWithoutCoordinatesAreRejected) {
    const Points points(test::square(10, 6));
    EXPECT_THROW(neighbor_edges(points, {.neighbors = 10}), InputError);
    EXPECT_THROW(neighbor_edges(points, {.neighbors = 0}), InputError);
    EXPECT_THROW(neighbor_edges(Points(test::square(1, 6)), {.neighbors = 1}), InputError);
    const Points table = Points::from_distances(Matrix::Ones(4, 4) - Matrix::Identity(4, 4));
    for (const NeighborSearch search : approximate_searches) {
        EXPECT_THROW(neighbor_edges(table, {.neighbors = 2, .search = search}), InputError);
    }
    EXPECT_EQ(neighbor_edges(table, {.neighbors = 2}).search, NeighborSearch::exact);
}

} // namespace
} // namespace pnmf
