#include "graphs/dense_graph.hpp"
#include "support/graph_clouds.hpp"

#include <pnmf/scales/scale_set.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

/// The spectrum of L(ε_t) along Λ*, finest scale first, by the graph itself.
std::vector<Vector> spectra_along_canonical_scales(const Matrix& X, double alpha) {
    const Points points(X);
    const SpanningTree tree = minimum_spanning_tree(points);
    const DenseMultiscaleGraph graph(points, tree, alpha);
    std::vector<Vector> spectra;
    for (const double epsilon : canonical_scales(tree).epsilon) {
        spectra.push_back(test::spectrum(test::laplacian(graph.at(epsilon)->adjacency())));
    }
    return spectra;
}

TEST(Laplacian, IsSymmetricKillsConstantsAndIsPositiveSemidefinite) {
    for (const test::Cloud& cloud : test::clouds()) {
        const Points points(cloud.X);
        const Index n = points.count();
        const SpanningTree tree = minimum_spanning_tree(points);
        const DenseMultiscaleGraph graph(points, tree, 1.5);
        for (const double epsilon : canonical_scales(tree).epsilon) {
            const auto scale = graph.at(epsilon);
            const Matrix A = scale->adjacency();
            EXPECT_EQ(A, A.transpose()) << cloud.name;
            const Matrix ones = Matrix::Ones(1, n);
            const Vector L_ones = scale->degrees() - scale->times_adjacency(ones).transpose();
            EXPECT_LE(L_ones.cwiseAbs().maxCoeff(), 1e-14 * static_cast<double>(n)) << cloud.name;
            const Matrix L = Matrix(scale->degrees().asDiagonal()) - A;
            EXPECT_GE(test::spectrum(L).minCoeff(), -1e-13 * static_cast<double>(n)) << cloud.name;
        }
    }
}

// Theorem (spectral_stability_monotonicity), parts 2 and 3.
TEST(Laplacian, EigenvaluesNeverFallAlongTheCanonicalScales) {
    for (const test::Cloud& cloud : test::clouds()) {
        for (const double alpha : {0.5, 1.5, 3.0}) {
            const auto spectra = spectra_along_canonical_scales(cloud.X, alpha);
            for (std::size_t t = 1; t < spectra.size(); ++t) {
                const double rounding = 1e-12 * (1.0 + spectra[t].maxCoeff());
                EXPECT_GE((spectra[t] - spectra[t - 1]).minCoeff(), -rounding)
                    << cloud.name << ", scale " << t;
            }
        }
    }
}

TEST(Laplacian, KernelLosesDimensionsAtEveryCanonicalScale) {
    for (const test::Cloud& cloud : test::clouds()) {
        const auto spectra = spectra_along_canonical_scales(cloud.X, 1.5);
        for (std::size_t t = 1; t < spectra.size(); ++t) {
            const Index before = test::kernel_dimension(spectra[t - 1]);
            EXPECT_LT(test::kernel_dimension(spectra[t]), before) << cloud.name << ", scale " << t;
            EXPECT_GT(spectra[t][before - 1], 1e-9) << cloud.name << ", scale " << t;
        }
        EXPECT_EQ(test::kernel_dimension(spectra.back()), 1) << cloud.name;
    }
}

} // namespace
} // namespace pnmf
