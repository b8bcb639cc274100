#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace pnmf {
namespace {

Matrix all_counts(const CellModel& model) {
    return to_dense(simulate_cells(model, 0, model.options.cells).counts);
}

TEST(SimulatedCells, CountsHaveTheMeanVarianceAndZerosOfTheNegativeBinomial) {
    constexpr Index n = 20000;
    const CellModel model = make_cell_model({.cells = n,
                                             .genes = 8,
                                             .types = 1,
                                             .depth = 40.0,
                                             .depth_spread = 0.0,
                                             .dispersion = 0.5,
                                             .seed = 2});
    const Matrix X = all_counts(model);
    for (Index gene = 0; gene < 8; ++gene) {
        const double mean = 40.0 * model.profile(gene, 0);
        const double variance = mean + 0.5 * mean * mean;
        const double zeros = std::pow(1.0 / (1.0 + 0.5 * mean), 2.0);
        const double share_of_zeros = static_cast<double>((X.row(gene).array() == 0.0).count()) / n;
        // Six standard errors each; the fourth moment of the negative binomial is below 15 variances² here.
        EXPECT_NEAR(X.row(gene).mean(), mean, 6.0 * std::sqrt(variance / n));
        EXPECT_NEAR((X.row(gene).array() - mean).square().mean(), variance,
                    6.0 * variance * std::sqrt(15.0 / n));
        EXPECT_NEAR(share_of_zeros, zeros, 6.0 * std::sqrt(zeros * (1.0 - zeros) / n));
    }
}

TEST(SimulatedCells, DropoutLosesAGeneAsOftenAsItsMeanSays) {
    constexpr Index n = 20000;
    const CellsOptions options{.cells = n,
                               .genes = 4,
                               .types = 1,
                               .depth = 30.0,
                               .depth_spread = 0.0,
                               .dispersion = 0.2,
                               .dropout = 3.0};
    const CellModel model = make_cell_model(options);
    const Matrix X = all_counts(model);
    for (Index gene = 0; gene < 4; ++gene) {
        const double mean = 30.0 * model.profile(gene, 0);
        const double zeros = std::pow(1.0 / (1.0 + 0.2 * mean), 5.0);
        const double expected = 1.0 - (1.0 - zeros) * mean / (mean + 3.0);
        const double found = static_cast<double>((X.row(gene).array() == 0.0).count()) / n;
        EXPECT_NEAR(found, expected, 6.0 * std::sqrt(expected * (1.0 - expected) / n));
    }
}

TEST(SimulatedCells, BlocksOfAnySizeAndThreadsOfAnyNumberHoldTheSameCells) {
    const CellModel model =
        make_cell_model({.cells = 300, .genes = 50, .types = 4, .depth = 20.0, .seed = 1});
    const SimulatedCells whole = simulate_cells(model, 0, 300);
    check_structure(whole.counts);
    const Matrix X = to_dense(whole.counts);
    const int before = thread_count();
    for (const Index block : {1, 7, 64, 129}) {
        set_thread_count(block == 7 ? 1 : 3);
        for (Index begin = 0; begin < 300; begin += block) {
            const Index end = std::min<Index>(300, begin + block);
            const SimulatedCells part = simulate_cells(model, begin, end);
            check_structure(part.counts);
            EXPECT_EQ(to_dense(part.counts), X.middleCols(begin, end - begin));
            EXPECT_TRUE(std::equal(part.types.begin(), part.types.end(), whole.types.begin() + begin));
        }
    }
    set_thread_count(before);
}

TEST(SimulatedCells, TypesAreAsFrequentAsTheirProportionsAndLibrariesAsDeepAsAsked) {
    const CellModel model =
        make_cell_model({.cells = 20000, .genes = 30, .types = 5, .depth = 50.0, .seed = 3});
    const SimulatedCells data = simulate_cells(model, 0, 20000);
    Vector share = Vector::Zero(5);
    const Matrix X = to_dense(data.counts);
    for (Index j = 0; j < 20000; ++j) {
        share(data.types[j]) += 1.0 / 20000.0;
    }
    EXPECT_LT((share - model.proportions).cwiseAbs().maxCoeff(), 0.02);
    EXPECT_NEAR(X.sum() / 20000.0, 50.0 * std::exp(0.3 * 0.3 / 2.0), 1.0);
}

TEST(SimulatedCells, TypesThatPartLaterInTheTreeAreMoreAlike) {
    const CellModel model = make_cell_model({.genes = 5000, .types = 12, .seed = 4});
    const auto ancestors = [&](Index type) {
        std::set<Index> nodes;
        for (Index node = model.tree.leaf[type]; node >= 0; node = model.tree.parent[node]) {
            nodes.insert(node);
        }
        return nodes;
    };
    // Changes are independent on branches, so the squared distance of log profiles grows with their number.
    for (Index a = 0; a < 12; ++a) {
        for (Index b = 0; b < a; ++b) {
            std::set<Index> branches;
            for (const auto& node : ancestors(a)) {
                branches.insert(node);
            }
            for (const auto& node : ancestors(b)) {
                if (!branches.erase(node)) {
                    branches.insert(node);
                }
            }
            Vector change = (model.profile.col(a).array() / model.profile.col(b).array()).log().matrix();
            change.array() -= change.mean(); // profiles are normalised
            const double expected = 5000.0 * 0.1 * static_cast<double>(branches.size());
            EXPECT_NEAR(change.squaredNorm() / expected, 1.0, 0.4);
        }
    }
}

TEST(SimulatedCells, TheTreeIsBinaryAndItsTextNamesEachTypeOnce) {
    for (const Index types : {1, 2, 9}) {
        const CellModel model = make_cell_model({.genes = 3, .types = types});
        EXPECT_EQ(std::ssize(model.tree.parent), 2 * types - 1);
        const std::string text = newick(model.tree);
        EXPECT_EQ(std::count(text.begin(), text.end(), '('), types - 1);
        EXPECT_EQ(std::count(text.begin(), text.end(), ','), types - 1);
        EXPECT_EQ(text.substr(text.size() - 2), ";\n");
    }
    EXPECT_EQ(newick({.parent = {-1, 0, 0, 1, 1}, .leaf = {3, 4, 2}}), "((type1,type2),type3);\n");
}

TEST(SimulatedCells, OptionsOutOfRangeAreRejected) {
    EXPECT_THROW(make_cell_model({.cells = 0}), InputError);
    EXPECT_THROW(make_cell_model({.changed = 1.5}), InputError);
    EXPECT_THROW(make_cell_model({.depth = 0.0}), InputError);
    EXPECT_THROW(make_cell_model({.dispersion = -1.0}), InputError);
    EXPECT_THROW(simulate_cells(make_cell_model({.cells = 5}), 3, 6), InputError);
}

} // namespace
} // namespace pnmf
