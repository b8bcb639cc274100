#include "metrics/fixture.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>

#include <gtest/gtest.h>

#include <map>

namespace pnmf {
namespace {

/// From the definition, cell by cell.
double slow_silhouette(const Matrix& X, const std::vector<Index>& clusters, Index cell) {
    std::map<Index, std::pair<double, Index>> others;
    for (Index j = 0; j < X.cols(); ++j) {
        if (j != cell) {
            auto& [sum, count] = others[clusters[j]];
            sum += (X.col(j) - X.col(cell)).norm();
            ++count;
        }
    }
    if (!others.contains(clusters[cell])) {
        return 0.0;
    }
    const auto mean = [](const auto& entry) { return entry.first / static_cast<double>(entry.second); };
    const double a = mean(others[clusters[cell]]);
    double b = std::numeric_limits<double>::infinity();
    for (const auto& [cluster, entry] : others) {
        b = cluster == clusters[cell] ? b : std::min(b, mean(entry));
    }
    return (b - a) / std::max(a, b);
}

TEST(Silhouette, AgreesWithScikitLearn) {
    const auto& expected = test::scores_fixture()["silhouette"];
    const auto values = expected["values"].get<std::vector<double>>();
    const Vector ours = silhouettes(test::fixture_points(), expected["clusters"].get<std::vector<Index>>());
    for (std::size_t j = 0; j < values.size(); ++j) {
        EXPECT_NEAR(ours(static_cast<Index>(j)), values[j], 1e-12);
    }
}

TEST(Silhouette, BlocksGiveWhatTheDefinitionGivesAlsoFarFromTheOriginAndForNearDuplicates) {
    Random random(1);
    Matrix X(3, 700);
    std::vector<Index> clusters(700);
    for (Index j = 0; j < 700; ++j) {
        clusters[j] = j == 13 ? 99 : random.below(4);
        for (Index i = 0; i < 3; ++i) {
            X(i, j) = 1000.0 + random.normal() * (j % 2 == 0 ? 1e-5 : 1.0);
        }
    }
    const Vector fast = silhouettes(X, clusters);
    for (Index j = 0; j < 700; ++j) {
        EXPECT_NEAR(fast(j), slow_silhouette(X, clusters, j), 1e-9);
    }
    EXPECT_EQ(fast(13), 0.0);
    EXPECT_NEAR(mean_silhouette(X, clusters), fast.sum() / 700.0, 1e-15);
}

TEST(Silhouette, OneClusterIsRejected) {
    EXPECT_THROW(silhouettes(Matrix::Ones(2, 3), {1, 1, 1}), InputError);
    EXPECT_THROW(silhouettes(Matrix::Ones(2, 3), {1, 2}), InputError);
}

} // namespace
} // namespace pnmf
