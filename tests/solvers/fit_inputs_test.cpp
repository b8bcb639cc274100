#include "solvers/fit_data.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/solvers/fit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// What a fit may begin from beside X: other points, distances, a neighbour graph.
class FitInputs : public testing::Test {
  protected:
    const Matrix X = test::uniform_cloud(6, 20, 3);
    const DataView view = view_of(X);
    const FitOptions options{.rank = 3, .solver = {.max_sweeps = 4}};

    void expect_same_preparation(const PreparedFit<double>& a, const PreparedFit<double>& b) {
        EXPECT_EQ(a.tree->edges, b.tree->edges);
        EXPECT_EQ(a.scales.epsilon, b.scales.epsilon);
        for (const double epsilon : a.scales.epsilon) {
            EXPECT_EQ(a.graph->at(epsilon)->adjacency(), b.graph->at(epsilon)->adjacency());
        }
    }
};

TEST_F(FitInputs, PointsThatAreXGiveTheBitsOfXAlone) {
    const auto alone = fit<double>(X, options);
    const auto with_points = fit<double>(view, Points(X), options);
    EXPECT_EQ(with_points.scales.epsilon, alone.scales.epsilon);
    ASSERT_EQ(with_points.factors.H.size(), alone.factors.H.size());
    for (std::size_t t = 0; t < alone.factors.H.size(); ++t) {
        EXPECT_EQ(with_points.factors.H[t], alone.factors.H[t]);
        EXPECT_EQ(with_points.factors.W[t], alone.factors.W[t]);
    }
}

TEST_F(FitInputs, TheDistancesOfXGiveTheTreeScalesAndGraphsOfX) {
    const auto alone = prepare_fit<double>(view, options);
    const Points distances = Points::from_distances(Points(X).table());
    expect_same_preparation(prepare_fit<double>(view, distances, options), alone);
    FitOptions sparse = options;
    sparse.filtration.neighbors = 4;
    expect_same_preparation(prepare_fit<double>(view, distances, sparse), prepare_fit<double>(view, sparse));
}

TEST_F(FitInputs, OtherPointsMakeTheGraphsWhileXIsFactorised) {
    Matrix line(1, X.cols()); // cells on a line, on both sides of 0, far apart after the tenth
    for (Index j = 0; j < X.cols(); ++j) {
        line(0, j) = static_cast<double>(j) - 8.0 + (j >= 10 ? 5.0 : 0.0);
    }
    const auto prepared = prepare_fit<double>(view, Points(line), options);
    EXPECT_EQ(prepared.X->dense(), X);
    EXPECT_THAT(prepared.scales.epsilon, testing::ElementsAre(1.0, 6.0, 24.0 + 1e-9));
    EXPECT_THAT(prepared.scales.betti0, testing::ElementsAre(20, 2, 1));
    EXPECT_EQ(prepared.graph->at(6.0)->edges(), 2 * (9 + 8 + 7 + 6 + 5)); // up to 5 apart, in each half
    const auto result = fit<double>(view, Points(line), options);
    EXPECT_EQ(result.factors.H.size(), 3U);
    EXPECT_EQ(result.factors.H[0].cols(), X.cols());
}

TEST_F(FitInputs, ANeighbourGraphIsTheGraph) {
    std::vector<Edge> path;
    for (Index j = 1; j < X.cols(); ++j) {
        path.push_back({j < 5 ? 1.0 : 2.0, j - 1, j});
    }
    const auto prepared = prepare_fit<double>(view, sorted_edges(X.cols(), path), options);
    EXPECT_THAT(prepared.scales.epsilon, testing::ElementsAre(1.0, 2.0, 2.0 + 1e-9));
    EXPECT_THAT(prepared.scales.betti0, testing::ElementsAre(20, 16, 1));
    EXPECT_EQ(prepared.graph->at(2.5)->edges(), 19);
    EXPECT_THAT(prepared.notices, testing::Contains(HasSubstr("19 edges given")));
    const auto result = fit<double>(view, sorted_edges(X.cols(), path), options);
    EXPECT_EQ(result.factors.H.size(), 3U);
}

TEST_F(FitInputs, WithAnotherNumberOfCellsAreRefused) {
    const auto refused = ThrowsMessage<InputError>(HasSubstr("20, got 19"));
    EXPECT_THAT([&] { fit<double>(view, Points(Matrix(X.leftCols(19))), options); }, refused);
    EXPECT_THAT([&] { fit<double>(view, Points::from_distances(Matrix::Zero(19, 19)), options); }, refused);
    EXPECT_THAT([&] { fit<double>(view, sorted_edges(19, {}), options); }, refused);
}

TEST_F(FitInputs, TheSeedOfAFitIsThatOfItsScales) {
    FitOptions random = options;
    random.filtration.scales.strategy = ScaleStrategy::sufficient;
    random.seed = 5;
    const Points points(X);
    EXPECT_EQ(prepare_fit<double>(view, random).scales.epsilon,
              choose_scales(points, minimum_spanning_tree(points), random.filtration.scales, 5).epsilon);
}

/// 3 × 4, nine entries stored at seven places: that of row 2 in column 1 comes in three parts.
SparseMatrix<double> in_parts() {
    SparseMatrix<double> X;
    X.rows = 3;
    X.cols = 4;
    X.start = {0, 4, 5, 7, 9};
    X.row = {0, 2, 2, 2, 1, 0, 1, 1, 2};
    X.value = {0.5, 1.0, 2.0, 0.25, 3.0, 1.5, 0.125, 2.5, 4.0};
    return X;
}

TEST(FilledData, BecomeATableWithTheProductsOfTheSparseMatrix) {
    for (const SparseMatrix<double>& X : {in_parts(), test::sparse_cloud(40, 25, 0.6, 7)}) {
        ASSERT_TRUE(becomes_dense(view_of(X), sizeof(double)));
        const auto table = data_of<double>(view_of(X), false);
        EXPECT_FALSE(table->is_sparse());
        const DataMatrix<double> sparse(X);
        const Matrix H = test::uniform_cloud(2, X.cols, 5);
        const Matrix W = test::uniform_cloud(X.rows, 2, 6);
        EXPECT_TRUE(table->times_transposed(H).isApprox(sparse.times_transposed(H), 1e-14));
        EXPECT_TRUE(table->transposed_times(W).isApprox(sparse.transposed_times(W), 1e-14));
    }
}

TEST(FilledData, ThatComeInPartsAreAddedUp) {
    const auto table = data_of<float>(view_of(in_parts()), true);
    Matrix expected(3, 4);
    expected << 0.5, 0.0, 1.5, 0.0, 0.0, 3.0, 0.125, 2.5, 3.25, 0.0, 0.0, 4.0;
    EXPECT_EQ(table->dense(), expected.cast<float>());
}

TEST(FilledData, AreTwoFifthsOfAllEntriesInDoublePrecisionAndHalfInSingle) {
    SparseMatrix<double> X = in_parts();
    EXPECT_TRUE(becomes_dense(view_of(X), sizeof(float))) << "nine of 12";
    X.rows = 5;
    EXPECT_TRUE(becomes_dense(view_of(X), sizeof(double))) << "nine of 20";
    EXPECT_FALSE(becomes_dense(view_of(X), sizeof(float)));
    EXPECT_TRUE(data_of<float>(view_of(X), false)->is_sparse());
    X.rows = 6;
    EXPECT_FALSE(becomes_dense(view_of(X), sizeof(double))) << "nine of 24";
    EXPECT_TRUE(data_of<double>(view_of(X), false)->is_sparse());
    const Matrix dense = Matrix::Ones(3, 4);
    EXPECT_FALSE(becomes_dense(view_of(dense), sizeof(double))) << "they are dense already";
}

} // namespace
} // namespace pnmf
