#include "graphs/fixed_graph.hpp"
#include "support/graph_clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

SparseMatrix<double> sparse_of(const Matrix& A) {
    Triplets<double> triplets;
    for (Index j = 0; j < A.cols(); ++j) {
        for (Index i = 0; i < A.rows(); ++i) {
            if (A(i, j) != 0.0) {
                triplets.row.push_back(static_cast<std::int32_t>(i));
                triplets.col.push_back(static_cast<std::int32_t>(j));
                triplets.value.push_back(A(i, j));
            }
        }
    }
    return to_columns(A.rows(), A.cols(), triplets);
}

/// Five cells: 0–2–3 in one component, 1–4 in another.
Matrix two_components() {
    Matrix A = Matrix::Zero(5, 5);
    A(0, 2) = A(2, 0) = 0.5;
    A(2, 3) = A(3, 2) = 2.0;
    A(1, 4) = A(4, 1) = 1.0;
    return A;
}

TEST(FixedGraph, IsTheGivenGraphAtEveryScale) {
    const Matrix A = two_components();
    const FixedGraph graph(sparse_of(A));
    const Matrix H = test::random_matrix(7, 5, 1);
    for (const double epsilon : {1e-3, 1.0, no_threshold}) {
        const auto scale = graph.at(epsilon);
        EXPECT_EQ(scale->adjacency(), A);
        EXPECT_EQ(scale->edges(), 3);
        EXPECT_EQ(scale->degrees(), A.rowwise().sum());
        EXPECT_TRUE(scale->times_adjacency(H).isApprox(H * A, 1e-15));
        EXPECT_TRUE(scale->times_adjacency(DenseMatrix<float>(H.cast<float>()))
                        .isApprox((H * A).cast<float>(), 1e-6F));
        EXPECT_EQ(components(graph.tree(), epsilon), (std::vector<Index>{0, 1, 0, 0, 1}));
    }
}

TEST(FixedGraph, WithoutEdgesHasACellInEachComponent) {
    const FixedGraph graph = empty_graph(4);
    const auto scale = graph.at(1.0);
    EXPECT_EQ(scale->edges(), 0);
    EXPECT_EQ(component_count(components(graph.tree(), 1.0)), 4);
    EXPECT_EQ(scale->degrees(), Vector::Zero(4));
    EXPECT_EQ(scale->times_adjacency(test::random_matrix(3, 4, 2)), Matrix::Zero(3, 4));
}

TEST(FixedGraph, StoredZerosAreNoEdges) {
    SparseMatrix<double> weights = sparse_of(two_components());
    weights.value[0] = 0.0;                // 2–0
    weights.value[weights.start[2]] = 0.0; // 0–2
    const FixedGraph graph(weights);
    EXPECT_EQ(graph.at(1.0)->edges(), 2);
    EXPECT_EQ(component_count(components(graph.tree(), 1.0)), 3);
}

TEST(FixedGraph, WeightsThatAreNoGraphAreRejected) {
    const auto rejects = [](auto change) {
        Matrix A = two_components();
        change(A);
        EXPECT_THROW(FixedGraph{sparse_of(A)}, InputError);
    };
    rejects([](Matrix& A) { A(0, 2) = 0.25; });
    rejects([](Matrix& A) { A(0, 2) = 0.0; });
    rejects([](Matrix& A) { A(0, 2) = A(2, 0) = -0.5; });
    rejects([](Matrix& A) { A(0, 2) = A(2, 0) = std::nan(""); });
    rejects([](Matrix& A) { A(1, 1) = 1.0; });
    rejects([](Matrix& A) { A.conservativeResize(5, 4); });
    EXPECT_THROW(empty_graph(0), InputError);
}

} // namespace
} // namespace pnmf
