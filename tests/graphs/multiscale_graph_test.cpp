#include "graphs/dense_graph.hpp"
#include "graphs/sparse_graph.hpp"
#include "support/graph_clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace pnmf {
namespace {

using test::adjacency_by_formula;
using test::Cloud;
using test::clouds;

constexpr double alpha = 1.5;

/// The edges of the k nearest neighbours of each cell, by sorting all distances; ties by the smaller cell.
std::vector<Edge> neighbors_by_sorting(const Points& points, Index k) {
    std::vector<Edge> edges;
    for (Index i = 0; i < points.count(); ++i) {
        std::vector<std::pair<double, Index>> others;
        for (Index j = 0; j < points.count(); ++j) {
            if (i != j) {
                others.emplace_back(points.distance(i, j), j);
            }
        }
        std::sort(others.begin(), others.end());
        for (Index r = 0; r < k; ++r) {
            const auto [d, j] = others[r];
            edges.push_back({d, std::min(i, j), std::max(i, j)});
        }
    }
    return edges;
}

/// 1 at the edges of the sparse graph whatever the scale.
Matrix allowed_by(const std::vector<Edge>& neighbors, const SpanningTree& tree) {
    Matrix allowed = Matrix::Zero(tree.cells, tree.cells);
    for (const auto& edges : {neighbors, tree.edges}) {
        for (const Edge& edge : edges) {
            allowed(edge.i, edge.j) = allowed(edge.j, edge.i) = 1.0;
        }
    }
    return allowed;
}

void expect_same_graph(const MultiscaleGraph::Scale& scale, const Matrix& A, const std::string& where) {
    const Index n = A.cols();
    EXPECT_LE((scale.adjacency() - A).cwiseAbs().maxCoeff(), 1e-15) << where;
    EXPECT_EQ(2 * scale.edges(), (A.array() > 0.0).count()) << where;
    EXPECT_LE((scale.degrees() - A.rowwise().sum()).cwiseAbs().maxCoeff(), 1e-13 * static_cast<double>(n))
        << where;
    for (const Index d : {1, 3, 21}) {
        const Matrix H = test::random_matrix(d, n, 7);
        const Matrix expected = H * A;
        const double size = 1.0 + expected.maxCoeff();
        EXPECT_LE((scale.times_adjacency(H) - expected).cwiseAbs().maxCoeff(), 1e-14 * size)
            << where << ", d = " << d;
        const DenseMatrix<float> HA = scale.times_adjacency(DenseMatrix<float>(H.cast<float>()));
        EXPECT_LE((HA.cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-5 * size)
            << where << ", d = " << d;
    }
}

TEST(EdgeWeight, IsTheFormulaAndStrictAtTheScale) {
    const EdgeWeight weight(2.0, 1.5);
    EXPECT_EQ(weight(0.0), 1.0);
    EXPECT_NEAR(weight(1.25), std::exp(-1.5625 / std::pow(2.0, 1.5)), 1e-16);
    EXPECT_GT(weight(std::nextafter(2.0, 0.0)), 0.0);
    EXPECT_EQ(weight(2.0), 0.0);
    EXPECT_EQ(weight(3.0), 0.0);
    EXPECT_EQ(EdgeWeight(1e4, 1.0)(9e3), 0.0) << "exp(-8100) is below the smallest number";
}

TEST(EdgeWeight, ScalesAndAlphaThatAreNotFiniteAndPositiveAreRejected) {
    for (const double wrong : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        EXPECT_THROW(EdgeWeight(wrong, 1.5), InputError) << wrong;
        EXPECT_THROW(EdgeWeight(1.0, wrong), InputError) << wrong;
    }
    EXPECT_THROW(EdgeWeight(1e-300, 2.0), InputError) << "epsilon^alpha is 0";
}

TEST(DenseMultiscaleGraph, IsTheFormulaAtEveryCanonicalScale) {
    for (const Cloud& cloud : clouds()) {
        const Points points(cloud.X);
        const SpanningTree tree = minimum_spanning_tree(points);
        for (const double a : {alpha, 2.0}) {
            const DenseMultiscaleGraph graph(points, tree, a);
            for (const double epsilon : canonical_scales(tree).epsilon) {
                expect_same_graph(*graph.at(epsilon), adjacency_by_formula(points, epsilon, a),
                                  cloud.name + " at " + std::to_string(epsilon));
            }
        }
    }
}

TEST(DenseMultiscaleGraph, IsEmptyAtTheFinestCanonicalScaleAndCompleteAtTheCoarsest) {
    for (const Cloud& cloud : clouds()) {
        const Points points(cloud.X);
        const Index n = points.count();
        const SpanningTree tree = minimum_spanning_tree(points);
        const DenseMultiscaleGraph graph(points, tree, alpha);
        const ScaleSet scales = canonical_scales(tree);
        const auto coarsest = graph.at(scales.epsilon.back());
        EXPECT_EQ(coarsest->edges(), n * (n - 1) / 2) << cloud.name;
        EXPECT_EQ(component_count(components(graph.tree(), scales.epsilon.back())), 1) << cloud.name;
        if (cloud.name != "duplicates" && n > 1) {
            const auto finest = graph.at(scales.epsilon.front());
            EXPECT_EQ(finest->edges(), 0) << cloud.name;
            EXPECT_EQ(component_count(components(graph.tree(), scales.epsilon.front())), n) << cloud.name;
            EXPECT_EQ(finest->times_adjacency(test::random_matrix(4, n, 8)), Matrix::Zero(4, n))
                << cloud.name;
        }
    }
}

TEST(SparseMultiscaleGraph, IsTheFormulaOnNeighboursAndTreeAtEveryCanonicalScale) {
    for (const Cloud& cloud : clouds()) {
        const Points points(cloud.X);
        const SpanningTree tree = minimum_spanning_tree(points);
        for (const Index k : {0, 1, 4}) {
            if (k >= points.count()) {
                continue;
            }
            const auto neighbors = neighbors_by_sorting(points, k);
            const Matrix allowed = allowed_by(neighbors, tree);
            const SparseMultiscaleGraph graph(tree, neighbors, alpha);
            for (const double epsilon : canonical_scales(tree).epsilon) {
                const Matrix A = adjacency_by_formula(points, epsilon, alpha).cwiseProduct(allowed);
                expect_same_graph(*graph.at(epsilon), A, cloud.name + " at " + std::to_string(epsilon));
            }
        }
    }
}

TEST(SparseMultiscaleGraph, WithAllNeighboursIsTheDenseOne) {
    for (const Cloud& cloud : clouds()) {
        const Points points(cloud.X);
        const Index n = points.count();
        const SpanningTree tree = minimum_spanning_tree(points);
        const DenseMultiscaleGraph dense(points, tree, alpha);
        const SparseMultiscaleGraph sparse(tree, neighbors_by_sorting(points, n - 1), alpha);
        for (const double epsilon : canonical_scales(tree).epsilon) {
            const auto a = dense.at(epsilon);
            const auto b = sparse.at(epsilon);
            EXPECT_EQ(a->adjacency(), b->adjacency()) << cloud.name << " at " << epsilon;
            EXPECT_EQ(a->edges(), b->edges()) << cloud.name << " at " << epsilon;
            EXPECT_TRUE(a->degrees().isApprox(b->degrees(), 1e-14) || a->edges() == 0) << cloud.name;
        }
    }
}

TEST(SparseMultiscaleGraph, HasAsManyComponentsAsTheDiagramSaysAndItsLaplacianKernelHasDimensions) {
    for (const Cloud& cloud : clouds()) {
        const Points points(cloud.X);
        const SpanningTree tree = minimum_spanning_tree(points);
        const Diagram diagram = h0_diagram(tree);
        const DenseMultiscaleGraph dense(points, tree, alpha);
        const SparseMultiscaleGraph sparse(
            tree, neighbors_by_sorting(points, std::min<Index>(2, points.count() - 1)), alpha);
        for (const double epsilon : canonical_scales(tree).epsilon) {
            const Index expected = betti0(diagram, epsilon);
            for (const MultiscaleGraph* graph : {static_cast<const MultiscaleGraph*>(&dense),
                                                 static_cast<const MultiscaleGraph*>(&sparse)}) {
                const auto scale = graph->at(epsilon);
                EXPECT_EQ(component_count(components(graph->tree(), epsilon)), expected)
                    << cloud.name << " at " << epsilon;
                const Matrix A = scale->adjacency();
                EXPECT_EQ(test::kernel_dimension(test::spectrum(test::laplacian(A))), expected)
                    << cloud.name << " at " << epsilon;
                const std::vector<Index> component = components(graph->tree(), epsilon);
                for (Index j = 0; j < A.cols(); ++j) {
                    for (Index i = 0; i < A.rows(); ++i) {
                        EXPECT_TRUE(A(i, j) == 0.0 || component[i] == component[j]) << cloud.name;
                    }
                }
            }
        }
    }
}

TEST(MultiscaleGraph, EdgesOfAScaleAreEdgesOfEveryCoarserOneAndNoWeightFalls) {
    for (const Cloud& cloud : clouds()) {
        const Points points(cloud.X);
        const SpanningTree tree = minimum_spanning_tree(points);
        const DenseMultiscaleGraph dense(points, tree, alpha);
        const SparseMultiscaleGraph sparse(
            tree, neighbors_by_sorting(points, std::min<Index>(3, points.count() - 1)), alpha);
        for (const MultiscaleGraph* graph :
             {static_cast<const MultiscaleGraph*>(&dense), static_cast<const MultiscaleGraph*>(&sparse)}) {
            Matrix finer = Matrix::Zero(points.count(), points.count());
            for (const double epsilon : canonical_scales(tree).epsilon) {
                const Matrix A = graph->at(epsilon)->adjacency();
                EXPECT_TRUE(((finer.array() == 0.0) || (A.array() > 0.0)).all())
                    << cloud.name << " at " << epsilon;
                EXPECT_TRUE((finer.array() <= A.array()).all()) << cloud.name << " at " << epsilon;
                finer = A;
            }
        }
    }
}

TEST(MultiscaleGraph, ScalesOutliveTheGraphAndLiveSideBySide) {
    const Points points(test::square(60, 9));
    const SpanningTree tree = minimum_spanning_tree(points);
    std::vector<std::unique_ptr<MultiscaleGraph::Scale>> scales;
    const std::vector<double> epsilon = canonical_scales(tree).epsilon;
    {
        const DenseMultiscaleGraph graph(points, tree, alpha);
        for (const double e : epsilon) {
            scales.push_back(graph.at(e));
        }
    }
    for (std::size_t t = 0; t < epsilon.size(); ++t) {
        expect_same_graph(*scales[t], adjacency_by_formula(points, epsilon[t], alpha), std::to_string(t));
    }
}

TEST(MultiscaleGraph, GivesTheSameBitsForAnyNumberOfThreads) {
    const Index n = 400;
    const Points points(test::square(n, 10));
    const SpanningTree tree = minimum_spanning_tree(points);
    const auto neighbors = neighbors_by_sorting(points, 12);
    const Matrix H = test::random_matrix(19, n, 11);
    const DenseMatrix<float> Hf = H.cast<float>();
    struct Result {
        std::vector<Matrix> products;
        std::vector<DenseMatrix<float>> float_products;
        std::vector<Vector> degrees;
    };
    const int threads_before = thread_count();
    std::vector<Result> results;
    for (const int threads : {1, 2, 4}) {
        set_thread_count(threads);
        const DenseMultiscaleGraph dense(points, tree, alpha);
        const SparseMultiscaleGraph sparse(tree, neighbors, alpha);
        Result& result = results.emplace_back();
        for (const double epsilon : {0.03, 0.1, 0.4, 2.0}) {
            for (const auto& scale : {dense.at(epsilon), sparse.at(epsilon)}) {
                result.products.push_back(scale->times_adjacency(H));
                result.float_products.push_back(scale->times_adjacency(Hf));
                result.degrees.push_back(scale->degrees());
            }
        }
    }
    set_thread_count(threads_before);
    for (std::size_t r = 1; r < results.size(); ++r) {
        EXPECT_EQ(results[r].products, results[0].products);
        EXPECT_EQ(results[r].float_products, results[0].float_products);
        EXPECT_EQ(results[r].degrees, results[0].degrees);
    }
}

TEST(MultiscaleGraph, ScalesMadeByManyThreadsAtOnceAreThoseMadeByOne) {
    const Points points(test::square(200, 12));
    const SpanningTree tree = minimum_spanning_tree(points);
    const DenseMultiscaleGraph graph(points, tree, alpha);
    const std::vector<double> epsilon = canonical_scales(tree).epsilon;
    const Index scales = static_cast<Index>(epsilon.size());
    const Matrix H = test::random_matrix(5, 200, 13);
    std::vector<Matrix> together(epsilon.size());
    parallel_for(scales, [&](Index t) { together[t] = graph.at(epsilon[t])->times_adjacency(H); });
    for (Index t = 0; t < scales; ++t) {
        EXPECT_EQ(together[t], graph.at(epsilon[t])->times_adjacency(H)) << "scale " << t;
    }
}

TEST(MultiscaleGraph, WrongInputIsRejected) {
    const Points points(test::square(20, 14));
    const SpanningTree tree = minimum_spanning_tree(points);
    const DenseMultiscaleGraph dense(points, tree, alpha);
    const SparseMultiscaleGraph sparse(tree, {}, alpha);
    EXPECT_THROW(DenseMultiscaleGraph(points, tree, 0.0), InputError);
    const SpanningTree other = minimum_spanning_tree(Points(test::square(3, 15)));
    EXPECT_THROW(DenseMultiscaleGraph(points, other, alpha), InputError);
    EXPECT_THROW(SparseMultiscaleGraph(tree, {}, -1.0), InputError);
    EXPECT_THROW(SparseMultiscaleGraph(tree, {{0.1, 5, 5}}, alpha), InputError);
    EXPECT_THROW(SparseMultiscaleGraph(tree, {{0.1, 5, 20}}, alpha), InputError);
    for (const MultiscaleGraph* graph :
         {static_cast<const MultiscaleGraph*>(&dense), static_cast<const MultiscaleGraph*>(&sparse)}) {
        EXPECT_THROW(graph->at(0.0), InputError);
        EXPECT_THROW(graph->at(std::nan("")), InputError);
        for (const double epsilon : {0.05, 2.0}) {
            EXPECT_THROW(graph->at(epsilon)->times_adjacency(Matrix(3, 19)), InputError);
            EXPECT_THROW(graph->at(epsilon)->times_adjacency(DenseMatrix<float>(3, 21)), InputError);
        }
    }
}

} // namespace
} // namespace pnmf
