#include <pnmf/assess/programs.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace pnmf {
namespace {

using Basis = DenseMatrix<float>;

/// Programs with few genes each, as columns.
Matrix some_programs(Index genes, Index count, std::uint64_t seed) {
    Random random(seed);
    return Matrix::NullaryExpr(genes, count, [&] { return random.uniform() < 0.3 ? random.uniform() : 0.0; });
}

/// The same programs in another order, with other lengths and some noise.
Basis copy_of(const Matrix& programs, double noise, Random random) {
    const std::vector<Index> order = random_sample(programs.cols(), programs.cols(), random.fork(1));
    Matrix copy = programs(Eigen::all, order);
    for (Index k = 0; k < copy.cols(); ++k) {
        copy.col(k) *= 0.5 + random.uniform();
    }
    copy += noise * Matrix::NullaryExpr(copy.rows(), copy.cols(), [&] { return random.uniform(); });
    return copy.cast<float>();
}

std::vector<Basis> copies_of(const Matrix& programs, Index count, double noise) {
    std::vector<Basis> copies;
    for (Index r = 0; r < count; ++r) {
        copies.push_back(copy_of(programs, noise, Random(7).fork(static_cast<std::uint64_t>(r))));
    }
    return copies;
}

Matrix unit(Matrix W) {
    W.colwise().normalize();
    return W;
}

TEST(ConsensusPrograms, CopiesInAnyOrderAndLengthAreTheSamePrograms) {
    const Matrix programs = some_programs(50, 6, 1);
    const ConsensusPrograms found = consensus_programs(copies_of(programs, 5, 0.0));
    const Matrix cosine = unit(programs).transpose() * found.W;
    for (Index k = 0; k < 6; ++k) {
        EXPECT_NEAR(found.stability[k], 1.0, 1e-5);
        EXPECT_NEAR(found.similarity[k], 1.0, 1e-6);
        EXPECT_NEAR(cosine.col(k).maxCoeff(), 1.0, 1e-6);
    }
}

TEST(ConsensusPrograms, EveryRestartHasOneCopyOfEachProgram) {
    const std::vector<Basis> copies = copies_of(some_programs(40, 5, 2), 7, 0.4);
    const ConsensusPrograms found = consensus_programs(copies);
    ASSERT_EQ(found.copies.size(), 7U);
    for (std::vector<Index> match : found.copies) {
        std::sort(match.begin(), match.end());
        EXPECT_EQ(match, (std::vector<Index>{0, 1, 2, 3, 4}));
    }
    EXPECT_TRUE(std::is_sorted(found.stability.rbegin(), found.stability.rend()));
    EXPECT_TRUE((found.W.colwise().norm().array() - 1.0).abs().maxCoeff() < 1e-12);
}

/// The slow twin: the definition, with the matches that were found.
TEST(ConsensusPrograms, TheMeanStabilityIsTheSilhouetteOfAllCopies) {
    const std::vector<Basis> copies = copies_of(some_programs(40, 5, 3), 6, 0.8);
    const ConsensusPrograms found = consensus_programs(copies);
    Matrix all(40, 30);
    std::vector<Index> program(30);
    for (Index r = 0; r < 6; ++r) {
        for (Index k = 0; k < 5; ++k) {
            const Index column = found.copies[r][k];
            all.col(r * 5 + column) = copies[r].col(column).cast<double>().normalized();
            program[r * 5 + column] = k;
        }
    }
    EXPECT_NEAR(found.mean_stability(), mean_silhouette(all, program), 1e-12);
    EXPECT_LT(found.mean_stability(), 0.9);
}

/// Each restart has its best match with the means: the turns have ended.
TEST(ConsensusPrograms, NoExchangeOfTwoCopiesFitsTheMeansBetter) {
    const std::vector<Basis> copies = copies_of(some_programs(30, 4, 4), 5, 1.5);
    const ConsensusPrograms found = consensus_programs(copies);
    Matrix mean = Matrix::Zero(30, 4);
    for (Index r = 0; r < 5; ++r) {
        for (Index k = 0; k < 4; ++k) {
            mean.col(k) += copies[r].col(found.copies[r][k]).cast<double>().normalized();
        }
    }
    mean.colwise().normalize();
    for (Index r = 0; r < 5; ++r) {
        const auto cosine = [&](Index k, Index column) {
            return mean.col(k).dot(copies[r].col(column).cast<double>().normalized());
        };
        const std::vector<Index>& match = found.copies[r];
        for (Index k = 0; k < 4; ++k) {
            for (Index l = 0; l < k; ++l) {
                EXPECT_LE(cosine(k, match[l]) + cosine(l, match[k]),
                          cosine(k, match[k]) + cosine(l, match[l]) + 1e-9);
            }
        }
    }
}

TEST(ConsensusPrograms, AnOddCopyDoesNotMoveTheMedian) {
    const Matrix programs = some_programs(50, 3, 5);
    std::vector<Basis> copies = copies_of(programs, 5, 0.0);
    copies.push_back(some_programs(50, 3, 99).cast<float>()); // a restart that found something else
    const ConsensusPrograms found = consensus_programs(copies);
    const Matrix cosine = unit(programs).transpose() * found.W;
    EXPECT_NEAR(cosine.colwise().maxCoeff().minCoeff(), 1.0, 1e-6);
    EXPECT_LT(found.mean_stability(), 1.0);
}

TEST(ConsensusPrograms, OneProgramIsComparedWithGenesItDoesNotHave) {
    Basis a = Basis::Zero(4, 1);
    Basis b = Basis::Zero(4, 1);
    a(0, 0) = b(1, 0) = 2.0F;
    EXPECT_NEAR(consensus_programs({a, a}).mean_stability(), 1.0, 1e-12);
    EXPECT_NEAR(consensus_programs({a, b}).mean_stability(), 0.0, 1e-12);
}

TEST(ConsensusPrograms, WithAStabilityBelowZeroAreNotListed) {
    const ConsensusPrograms programs{.W = Matrix::Identity(4, 3), .stability = {0.7, 0.0, -0.1}};
    EXPECT_EQ(programs.count(), 3);
    EXPECT_EQ(programs.listed(), 2);
}

TEST(ConsensusPrograms, RejectsWhatCannotBeMatched) {
    const Basis one = Basis::Ones(4, 2);
    EXPECT_THROW(consensus_programs({one}), InputError);
    EXPECT_THROW(consensus_programs({one, Basis::Ones(4, 3)}), InputError);
    EXPECT_THROW(consensus_programs({one, -one}), InputError);
}

} // namespace
} // namespace pnmf
