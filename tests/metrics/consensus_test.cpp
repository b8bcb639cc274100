#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/metrics/consensus.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace pnmf {
namespace {

Matrix random_points(Index d, Index n, std::uint64_t seed) {
    Random random(seed);
    return Matrix::NullaryExpr(d, n, [&] { return random.uniform(); });
}

Matrix distances(const Matrix& X) {
    Matrix D(X.cols(), X.cols());
    for (Index j = 0; j < X.cols(); ++j) {
        D.col(j) = (X.colwise() - X.col(j)).colwise().norm().transpose();
    }
    return D;
}

/// The height at which two clusters merge, from its definition.
double height(const Matrix& X, const std::vector<Index>& a, const std::vector<Index>& b, Linkage linkage) {
    if (linkage == Linkage::average) {
        return distances(X)(a, b).mean();
    }
    const auto squares = [&](std::vector<Index> cells) {
        const Matrix part = X(Eigen::all, cells);
        return (part.colwise() - part.rowwise().mean()).squaredNorm();
    };
    std::vector<Index> both = a;
    both.insert(both.end(), b.begin(), b.end());
    return std::sqrt(2.0 * (squares(both) - squares(a) - squares(b)));
}

TEST(Hierarchy, EqualsAgglomerationFromTheDefinition) {
    for (const Linkage linkage : {Linkage::average, Linkage::ward}) {
        const Matrix X = random_points(3, 14, 5);
        const Hierarchy fast = agglomerate(distances(X), linkage);
        std::vector<std::vector<Index>> clusters;
        for (Index j = 0; j < X.cols(); ++j) {
            clusters.push_back({j});
        }
        for (Index i = 0; i < X.cols() - 1; ++i) {
            double least = std::numeric_limits<double>::infinity();
            std::size_t a = 0;
            std::size_t b = 0;
            for (std::size_t p = 0; p < clusters.size(); ++p) {
                for (std::size_t q = 0; q < p; ++q) {
                    const double h = height(X, clusters[p], clusters[q], linkage);
                    if (h < least) {
                        least = h;
                        a = p;
                        b = q;
                    }
                }
            }
            clusters[b].insert(clusters[b].end(), clusters[a].begin(), clusters[a].end());
            clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(a));
            EXPECT_NEAR(fast.merges(i, 2), least, 1e-10) << i;
            std::vector<Index> expected(static_cast<std::size_t>(X.cols()));
            for (std::size_t c = 0; c < clusters.size(); ++c) {
                for (const Index cell : clusters[c]) {
                    expected[cell] = static_cast<Index>(c);
                }
            }
            const auto found = cut(fast, std::ssize(clusters));
            EXPECT_EQ(adjusted_rand_index(expected, found), 1.0) << clusters.size();
        }
    }
}

TEST(Hierarchy, IsCutIntoAsManyClustersAsAskedForAndEachCutRefinesTheCoarserOne) {
    const Hierarchy hierarchy = agglomerate(distances(random_points(2, 40, 1)), Linkage::average);
    std::vector<Index> coarser = cut(hierarchy, 1);
    for (Index k = 2; k <= 40; ++k) {
        const std::vector<Index> finer = cut(hierarchy, k);
        EXPECT_EQ(std::ssize(std::set<Index>(finer.begin(), finer.end())), k);
        for (std::size_t i = 0; i < 40; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                EXPECT_TRUE(finer[i] != finer[j] || coarser[i] == coarser[j]);
            }
        }
        coarser = finer;
    }
}

TEST(Consensus, OfEqualClusteringsIsThatClustering) {
    const std::vector<Index> labels{0, 1, 2, 0, 1, 2, 2, 0};
    const std::vector<Index> renamed{2, 0, 1, 2, 0, 1, 1, 2};
    EXPECT_EQ(cut(consensus_over_scales({labels, renamed, labels}), 3), labels);
}

TEST(Consensus, FollowsTheMajorityOfScales) {
    const std::vector<Index> most{0, 0, 0, 1, 1, 1};
    const std::vector<Index> odd{0, 1, 0, 1, 0, 1};
    EXPECT_EQ(cut(consensus_over_scales({most, odd, most}), 2), most);
}

TEST(HierarchyAlongScales, SeesGroupsThatNoSingleScaleShowsAll) {
    Random random(3);
    std::vector<Matrix> H(2, Matrix::Zero(2, 40));
    std::vector<Index> labels;
    for (Index j = 0; j < 40; ++j) {
        const Index group = j % 4;
        labels.push_back(group);
        for (Index t = 0; t < 2; ++t) { // scale 0 tells 0, 1 from 2, 3; scale 1 tells 0, 2 from 1, 3
            const bool one = t == 0 ? group < 2 : group % 2 == 0;
            H[t].col(j) << (one ? 1.0 : 0.0) + 0.05 * random.uniform(), (one ? 0.0 : 1.0);
        }
    }
    const auto embedding = [&](Index t) { return H[static_cast<std::size_t>(t)]; };
    EXPECT_EQ(cut(hierarchy_along_scales(2, embedding), 4), labels);
    EXPECT_LT(adjusted_rand_index(labels, cut(hierarchy_along_scales(1, embedding), 4)), 0.9);
}

TEST(Hierarchy, RejectsWhatCannotBe) {
    Matrix D = distances(random_points(2, 5, 1));
    EXPECT_THROW(cut(agglomerate(D, Linkage::ward), 6), InputError);
    EXPECT_THROW(cut(agglomerate(D, Linkage::ward), 0), InputError);
    EXPECT_EQ(cut(agglomerate(Matrix::Zero(1, 1), Linkage::ward), 1), std::vector<Index>{0});
    D(0, 1) = -1.0;
    EXPECT_THROW(agglomerate(D, Linkage::average), InputError);
    D(0, 1) = 100.0;
    EXPECT_THROW(agglomerate(D, Linkage::average), InputError);
    EXPECT_THROW(consensus_over_scales({{0, 1}, {0}}), InputError);
}

} // namespace
} // namespace pnmf
