#include "assess/closed_curve.hpp"

#include <pnmf/assess/loops.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pnmf {
namespace {

constexpr double pi = std::numbers::pi;
const LoopOptions quick{.null_clouds = 19, .landmarks = 100};

Matrix noise(Index dimensions, Index cells, std::uint64_t seed) {
    Matrix X(dimensions, cells);
    Random random(seed);
    for (double& value : X.reshaped()) {
        value = random.normal();
    }
    return X;
}

/// A circle of radius 4 in noise of deviation 1 in all dimensions, and the angles.
Matrix noisy_circle(Index dimensions, Index cells, Vector& angle, std::uint64_t seed = 1) {
    Matrix X = noise(dimensions, cells, seed);
    Random random(seed + 1000);
    angle.resize(cells);
    for (Index j = 0; j < cells; ++j) {
        angle[j] = 2.0 * pi * random.uniform();
        X(0, j) += 4.0 * std::cos(angle[j]);
        X(1, j) += 4.0 * std::sin(angle[j]);
    }
    return X;
}

/// The mean resultant of phase ∓ angle, the better of both directions: 1 when they are the same up to a turn.
double agreement(const Vector& phase, const Vector& angle) {
    const auto of = [&](double sign) {
        const Vector away = phase - sign * angle;
        return std::hypot(away.array().cos().mean(), away.array().sin().mean());
    };
    return std::max(of(1.0), of(-1.0));
}

TEST(CellLoops, ACircleInFiftyDimensionsOfNoiseIsFoundWithItsPhases) {
    Vector angle;
    const Matrix X = noisy_circle(50, 300, angle);
    const LoopFinding finding = find_loops(X, quick);
    ASSERT_EQ(finding.loops.size(), 1U);
    const CellLoop& loop = finding.loops[0];
    EXPECT_EQ(loop.p_value, 0.05) << "none of 19 clouds has such a loop";
    EXPECT_GT(loop.cells, 250);
    EXPECT_GT(agreement(loop.phase, angle), 0.95);
    EXPECT_GE(loop.phase.minCoeff(), 0.0);
    EXPECT_LT(loop.phase.maxCoeff(), 2.0 * pi + 1e-12);
}

TEST(CellLoops, AreThoseOfTheDiagramThatPersistLongerThanChance) {
    Vector angle;
    for (const Matrix& X : {noisy_circle(50, 200, angle), noise(50, 200, 4)}) {
        for (const double level : {0.05, 0.4, 1.0}) {
            LoopOptions options = quick;
            options.level = level;
            const LoopFinding finding = find_loops(X, options);
            if (finding.dimensions < 2) {
                continue;
            }
            EXPECT_EQ(finding.joins.size(), 99U);
            std::size_t above = 0;
            for (const auto& [birth, death] : finding.diagram) {
                above += death - birth > finding.chance ? 1 : 0;
            }
            EXPECT_EQ(above, finding.loops.size()) << level;
            for (std::size_t k = 0; k < finding.loops.size(); ++k) {
                EXPECT_EQ(finding.loops[k].birth, finding.diagram[k][0]);
                EXPECT_EQ(finding.loops[k].death, finding.diagram[k][1]);
            }
        }
    }
}

TEST(CellLoops, CloudsClustersAndCornersHaveNone) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        Matrix clusters = noise(12, 150, seed);
        Matrix corner = noise(12, 150, seed + 50);
        for (Index j = 0; j < 150; ++j) {
            clusters(j % 4, j) += 9.0;
            corner(j % 2, j) += 0.2 * static_cast<double>(j);
        }
        for (const Matrix& X : {noise(12, 150, seed + 100), clusters, corner}) {
            found += find_loops(X, quick).loops.empty() ? 0 : 1;
        }
    }
    EXPECT_LE(found, 2) << "of 18, at a level of 0.05";
}

TEST(CellLoops, FewCellsAndCellsAtOnePlaceHaveNone) {
    for (const Index cells : {0, 1, 2, 3, 19}) {
        EXPECT_TRUE(find_loops(noise(5, cells, 3), quick).loops.empty()) << cells;
    }
    EXPECT_TRUE(find_loops(Matrix::Ones(5, 40), quick).loops.empty());
    EXPECT_TRUE(find_loops(noise(1, 40, 3), quick).loops.empty());
    Matrix two = Matrix::Ones(3, 40);
    two.leftCols(20).setZero();
    EXPECT_TRUE(find_loops(two, quick).loops.empty());
    Matrix wrong = noise(5, 40, 3);
    wrong(2, 7) = std::nan("");
    EXPECT_THROW(find_loops(wrong, quick), InputError);
    EXPECT_THROW(find_loops(noise(5, 40, 3), {.null_clouds = 0}), InputError);
}

TEST(CellLoops, DoNotDependOnThreadsAndCellsBeyondTheSampleGetPhasesToo) {
    Vector angle;
    const Matrix X = noisy_circle(20, 600, angle);
    LoopOptions options = quick;
    options.most_cells = 200;
    const int threads = thread_count();
    set_thread_count(1);
    const LoopFinding one = find_loops(X, options);
    set_thread_count(3);
    const LoopFinding three = find_loops(X, options);
    set_thread_count(threads);
    ASSERT_EQ(one.loops.size(), 1U);
    ASSERT_EQ(three.loops.size(), 1U);
    EXPECT_EQ(one.loops[0].phase, three.loops[0].phase);
    EXPECT_EQ(one.loops[0].p_value, three.loops[0].p_value);
    EXPECT_GT(agreement(one.loops[0].phase, angle), 0.95);
}

TEST(CellLoops, PhasesAreEvenWhereCellsCrowd) {
    const Vector crowded = Vector::LinSpaced(50, 0.0, 1.0);
    const Vector even = spread_evenly(crowded.array().square());
    for (Index j = 0; j < 50; ++j) {
        EXPECT_DOUBLE_EQ(even[j], 2.0 * pi * static_cast<double>(j) / 50.0);
    }
}

TEST(PhaseGenes, AreThoseThatFollowThePhaseWithTheirPeaks) {
    Vector phase;
    noisy_circle(2, 200, phase);
    Matrix X = 0.1 * noise(6, 200, 5).cwiseAbs();
    X.row(2).array() += 3.0 + 2.0 * (phase.array() - 1.0).cos().transpose();
    X.row(4).array() += 3.0 + (phase.array() - 5.0).cos().transpose();
    X.row(5).setConstant(2.0);
    const std::vector<PhaseGene> genes = phase_genes(DataMatrix<double>(X), phase);
    ASSERT_EQ(genes.size(), 6U);
    EXPECT_EQ(genes[0].gene, 2);
    EXPECT_NEAR(genes[0].amplitude, 2.0, 0.05);
    EXPECT_NEAR(genes[0].peak, 1.0, 0.05);
    EXPECT_EQ(genes[1].gene, 4);
    EXPECT_NEAR(genes[1].peak, 5.0, 0.05);
    EXPECT_LT(genes[1].adjusted, 1e-9);
    EXPECT_GT(genes[2].adjusted, 1e-3) << "chance";
    EXPECT_EQ(genes[5].p_value, 1.0) << "a gene that does not vary follows nothing";
    SparseMatrix<double> sparse;
    sparse.rows = 6;
    sparse.cols = 200;
    for (Index j = 0; j < 200; ++j) {
        for (Index g = 0; g < 6; ++g) {
            sparse.row.push_back(static_cast<std::int32_t>(g));
            sparse.value.push_back(X(g, j));
        }
        sparse.start.push_back(std::ssize(sparse.value));
    }
    const std::vector<PhaseGene> of_sparse = phase_genes(DataMatrix<double>(sparse), phase);
    EXPECT_EQ(of_sparse[0].gene, 2);
    EXPECT_NEAR(of_sparse[0].share, genes[0].share, 1e-12);
}

TEST(PhaseGenes, AnchorsTurnAndMirrorThePhases) {
    const std::vector<PhaseGene> genes{
        {.gene = 0, .amplitude = 1.0, .peak = 2.0}, {.gene = 1, .amplitude = 1.0, .peak = 1.0}, {.gene = 2}};
    Vector phase(3);
    phase << 2.0, 1.0, 3.0;
    const Vector turned = anchored(phase, genes, {.zero = {0}, .next = {}});
    EXPECT_NEAR(turned[2], 1.0, 1e-12);
    const Vector mirrored = anchored(phase, genes, {.zero = {0}, .next = {1}});
    EXPECT_NEAR(mirrored[0], 0.0, 1e-12);
    EXPECT_NEAR(mirrored[1], 1.0, 1e-12);
    EXPECT_NEAR(mirrored[2], 2.0 * pi - 1.0, 1e-12);
    EXPECT_THROW(anchored(phase, genes, {.zero = {2}, .next = {}}), InputError);
}

} // namespace
} // namespace pnmf
