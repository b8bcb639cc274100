#include "analysis/supported_rank.hpp"
#include "cells/io/local_cells.hpp"
#include "linalg/decompositions.hpp"
#include "support/clouds.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/preparation.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Dataset named_data(std::variant<Matrix, SparseMatrix<double>> X, const std::string& format = "h5ad") {
    Dataset data;
    data.X = std::move(X);
    for (Index i = 0; i < data.features(); ++i) {
        data.feature_names.push_back("gene" + std::to_string(i));
    }
    for (Index j = 0; j < data.cells(); ++j) {
        data.cell_names.push_back("cell" + std::to_string(j));
    }
    data.input.format = format;
    return data;
}

Dataset counts_of(Index cells, Index genes) {
    const CellModel model = make_cell_model({.cells = cells, .genes = genes, .types = 3, .seed = 5});
    return named_data(simulate_cells(model, 0, cells).counts);
}

/// The values of counts, each times `factor`, dense.
Matrix changed(const Dataset& data, double (*change)(double)) {
    return to_dense(std::get<SparseMatrix<double>>(data.X)).unaryExpr([&](double x) { return change(x); });
}

Normalize planned(const Dataset& data) {
    return plan_analysis(data, {}).prepare.normalize;
}

TEST(Preset, IsFoundByTheFormatAndByTheValues) {
    const Dataset counts = counts_of(30, 900);
    EXPECT_EQ(find_preset(counts).preset, Preset::cells);
    EXPECT_EQ(find_preset(named_data(counts.X, "text")).preset, Preset::cells);
    EXPECT_EQ(
        find_preset(named_data(Matrix(changed(counts, [](double x) { return x + 1.0; })), "text")).preset,
        Preset::points)
        << "whole numbers, but hardly a zero";
    EXPECT_EQ(
        find_preset(named_data(Matrix(changed(counts, [](double x) { return 0.3 * x; })), "npy")).preset,
        Preset::points);
}

TEST(Preset, TellsCountsExpressionLogarithmsAndScaledValuesApart) {
    const Dataset counts = counts_of(30, 40);
    EXPECT_EQ(planned(counts), Normalize::counts);
    EXPECT_EQ(planned(named_data(Matrix(changed(counts, [](double x) { return 17.3 * x; })))),
              Normalize::counts);
    Dataset logged = named_data(Matrix(changed(counts, [](double x) { return std::log1p(x); })));
    EXPECT_EQ(planned(logged), Normalize::none) << "by their size";
    Dataset large = named_data(Matrix(changed(counts, [](double x) { return 17.3 * x; })));
    large.facts.log_recorded = true;
    EXPECT_EQ(planned(large), Normalize::none) << "by what the file says";
    large.input.layer = "other";
    EXPECT_EQ(planned(large), Normalize::counts) << "the file says it of X alone";
    try {
        planned(named_data(Matrix(changed(counts, [](double x) { return x - 1.0; }))));
        FAIL() << "scaled values were taken";
    } catch (const RemediableError& e) {
        EXPECT_EQ(e.remedy(), Remedy::choose_layer);
        EXPECT_THAT(e.what(), HasSubstr("centred or scaled"));
    }
}

TEST(Preset, OptionsOfTheUserStandAboveIt) {
    Dataset data = counts_of(60, 80);
    AnalysisOptions asked;
    asked.fit.filtration.alpha = 1.7;
    asked.fit.rank = 4;
    asked.fit.filtration.neighbors = 5;
    asked.given = {"alpha", "rank", "neighbors"};
    asked.precision = Precision::full;
    asked.genes = "50";
    asked.space = "none";
    asked.normalize = Normalize::logarithm;
    Analysis analysis = plan_analysis(data, asked);
    prepare(data, analysis, asked);
    EXPECT_EQ(analysis.preset, Preset::cells);
    EXPECT_EQ(analysis.fit.filtration.alpha, 1.7);
    EXPECT_EQ(analysis.fit.rank, 4);
    EXPECT_EQ(analysis.fit.filtration.neighbors, 5);
    EXPECT_EQ(analysis.precision, Precision::full);
    EXPECT_EQ(analysis.prepare.normalize, Normalize::logarithm);
    EXPECT_EQ(data.features(), 50);
    EXPECT_FALSE(data.space.has_value());
    EXPECT_TRUE(analysis.fit.scale_error.has_value()) << "what was not set is the preset's";
    asked.fit.solver.algorithm = Algorithm::reference;
    asked.given.insert("algorithm");
    EXPECT_FALSE(plan_analysis(counts_of(60, 80), asked).fit.scale_error.has_value())
        << "the published protocol takes its scales as they are";
}

TEST(Preset, PaperIsWhatVersionOneDid) {
    Dataset data = counts_of(40, 50);
    const AnalysisOptions asked{.preset = Preset::paper};
    Analysis analysis = plan_analysis(data, asked);
    prepare(data, analysis, asked);
    Dataset twin = counts_of(40, 50);
    prepare(twin, {.transform = Transform::log_unit});
    EXPECT_EQ(std::get<SparseMatrix<double>>(data.X).value, std::get<SparseMatrix<double>>(twin.X).value);
    EXPECT_EQ(analysis.precision, Precision::full);
    EXPECT_EQ(analysis.fit.filtration.alpha, FitOptions{}.filtration.alpha);
    EXPECT_FALSE(analysis.fit.rank || analysis.fit.scale_error || analysis.fit.filtration.neighbors ||
                 analysis.fit.solver.tolerance);
    EXPECT_FALSE(data.space.has_value());
}

/// What the preset does to counts, by plain loops.
struct SlowCells {
    Matrix X; ///< genes × cells of length 1
    Matrix logarithms;
    std::vector<std::string> genes;
};

SlowCells slowly(const Dataset& data, Index genes) {
    Matrix X = to_dense(std::get<SparseMatrix<double>>(data.X));
    const std::vector<Index> overdispersed = overdispersed_features(data, genes / 4);
    for (Index j = 0; j < X.cols(); ++j) {
        X.col(j) *= 1e4 / X.col(j).sum();
    }
    X = X.array().log1p();
    std::vector<Index> order(static_cast<std::size_t>(X.rows()));
    std::iota(order.begin(), order.end(), Index{0});
    const Vector mean = X.rowwise().mean();
    Vector variance = (X.colwise() - mean).rowwise().squaredNorm();
    variance(overdispersed).array() += 1e9;
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return variance[a] > variance[b]; });
    order.resize(static_cast<std::size_t>(genes));
    std::sort(order.begin(), order.end());
    SlowCells slow;
    slow.logarithms = X(order, Eigen::all);
    slow.X = slow.logarithms;
    for (Index j = 0; j < X.cols(); ++j) {
        slow.X.col(j) /= slow.X.col(j).norm();
    }
    for (const Index i : order) {
        slow.genes.push_back(data.feature_names[static_cast<std::size_t>(i)]);
    }
    return slow;
}

TEST(Preset, CellsAreNormalisedChosenAndGivenASpaceAsPlainLoopsDoIt) {
    const Dataset counts = counts_of(50, 90);
    const SlowCells slow = slowly(counts, 40);
    Dataset data = counts;
    const AnalysisOptions asked{.preset = Preset::cells, .genes = "40", .space = "pca:6"};
    Analysis analysis = plan_analysis(data, asked);
    prepare(data, analysis, asked);
    EXPECT_EQ(data.feature_names, slow.genes);
    EXPECT_LT((to_dense(std::get<SparseMatrix<double>>(data.X)) - slow.X).cwiseAbs().maxCoeff(), 1e-14);
    // Distances in the space are those of the centred logarithms in their first directions, not of cells of
    // length 1: compare with the whole decomposition.
    ASSERT_TRUE(data.space.has_value());
    EXPECT_EQ(data.space->name, "pca:6");
    const Matrix centred = slow.logarithms.colwise() - Vector(slow.logarithms.rowwise().mean());
    const Matrix plain = thin_svd(centred).U.leftCols(6).transpose() * centred;
    const Matrix& found = data.space->coordinates;
    EXPECT_LT((found.transpose() * found - plain.transpose() * plain).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LE(analysis.choices.size(), 8U);
}

TEST(Preset, NewCellsGetWhatTheCellsOfTheFitGot) {
    const Dataset counts = counts_of(50, 90);
    Dataset data = counts;
    const AnalysisOptions asked{.preset = Preset::cells, .genes = "40", .space = "pca:6"};
    Analysis analysis = plan_analysis(data, asked);
    prepare(data, analysis, asked);
    Dataset again = counts;
    std::reverse(again.feature_names.begin(), again.feature_names.end()); // genes in another order
    again.X = Matrix(to_dense(std::get<SparseMatrix<double>>(counts.X)).colwise().reverse());
    apply_steps(again, input_record_from_json(to_json(data.input)).steps,
                {.features = data.feature_names, .space = &*data.space});
    EXPECT_LT(
        (std::get<Matrix>(again.X) - to_dense(std::get<SparseMatrix<double>>(data.X))).cwiseAbs().maxCoeff(),
        1e-14);
    EXPECT_LT((again.space->coordinates - data.space->coordinates).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Preset, NoTransformIsAddedToWhatAFitDidAlready) {
    Dataset data = counts_of(30, 60);
    const AnalysisOptions asked{.preset = Preset::cells};
    Analysis analysis = plan_analysis(data, asked);
    prepare(data, analysis, asked);
    EXPECT_THROW(set_transform(data.input, Transform::log_unit), InputError) << "a second logarithm";
    Dataset of_paper = counts_of(30, 60);
    prepare(of_paper, {.transform = Transform::log_unit});
    EXPECT_NO_THROW(set_transform(of_paper.input, Transform::none));
}

TEST(Preset, TinyAndDegenerateDataHaveADefinedEnd) {
    const auto run = [](Matrix X) {
        Dataset data = named_data(std::move(X));
        const AnalysisOptions asked;
        Analysis analysis = plan_analysis(data, asked);
        prepare(data, analysis, asked);
        const RunOptions options{.fit = analysis.fit,
                                 .space = data.space ? &data.space->coordinates : nullptr};
        return run_fit<float>(view_of(data.X), options).result.scales.size();
    };
    EXPECT_GE(run(Matrix{{3.0, 1.0}, {0.0, 2.0}}), 1) << "two cells";
    EXPECT_GE(run(Matrix{{3.0, 1.0, 2.0, 0.0}, {1.0, 1.0, 0.0, 2.0}, {0.0, 1.0, 1.0, 1.0}}), 1) << "four";
    EXPECT_THROW(run(Matrix::Constant(3, 5, 2.0)), InputError) << "all cells equal";
    EXPECT_THROW(run(Matrix{{1.0, 2.0, 3.0}}), InputError) << "one gene: all cells are equal once normalised";
}

TEST(Preset, WordsThatAreNoChoiceAreRefused) {
    Dataset data = counts_of(20, 30);
    for (const AnalysisOptions& asked :
         {AnalysisOptions{.space = "umap"}, AnalysisOptions{.space = "pca:0"},
          AnalysisOptions{.space = "pca:x"}, AnalysisOptions{.space = "obsm:X_pca"},
          AnalysisOptions{.genes = "0"}}) {
        EXPECT_THROW(plan_analysis(data, asked), InputError) << asked.space << asked.genes;
    }
    const AnalysisOptions column{.genes = "no_such_column"};
    Analysis analysis = plan_analysis(data, column);
    EXPECT_THROW(prepare(data, analysis, column), InputError);
    EXPECT_EQ(preferred_layer({.layers = {"counts"}}, std::nullopt), "counts");
    EXPECT_EQ(preferred_layer({.has_raw = true}, ValueKind::scaled), "raw");
    EXPECT_EQ(preferred_layer({.has_raw = true}, ValueKind::logged), std::nullopt);
}

TEST(Preset, MoreGenesThanThereAreMeansAllThatVary) {
    Dataset data = counts_of(20, 30);
    const AnalysisOptions asked{.genes = "500"};
    Analysis analysis = plan_analysis(data, asked);
    prepare(data, analysis, asked);
    EXPECT_LE(data.features(), 30);
    EXPECT_GT(data.features(), 20);
}

TEST(Preset, FilteringIsDoneOnlyWhenAskedFor) {
    Dataset data = counts_of(40, 60);
    const AnalysisOptions asked{.cells_min = 10, .genes_min = 5};
    Analysis analysis = plan_analysis(data, asked);
    const Matrix X = to_dense(std::get<SparseMatrix<double>>(data.X));
    Index genes = 0;
    for (Index i = 0; i < X.rows(); ++i) {
        genes += (X.row(i).array() != 0.0).count() >= 10;
    }
    prepare(data, analysis, asked);
    EXPECT_EQ(data.features(), genes);
    EXPECT_LT(genes, 60) << "data for which the filter matters";
}

std::string choice_of(const Analysis& analysis, const std::string& option) {
    for (const Choice& choice : analysis.choices) {
        if (choice.option == option) {
            return choice.text;
        }
    }
    return "";
}

TEST(Preset, RoundedLogarithmsAreNotLoggedAgainAndTheDoubtIsSaid) {
    Dataset data = counts_of(30, 900);
    data.X = changed(data, [](double x) { return x > 2.0 ? 2.0 + std::round(2.0 * std::log2(x)) : 0.0; });
    const Analysis analysis = plan_analysis(data, {});
    EXPECT_EQ(analysis.prepare.normalize, Normalize::none);
    EXPECT_THAT(choice_of(analysis, "normalize"), HasSubstr("as of rounded logarithms, by their size alone"));
    data.input.format = "text";
    EXPECT_EQ(find_preset(data).preset, Preset::cells) << "they are expression all the same";
}

TEST(Preset, GenesChosenAnewAreSaidToBeSo) {
    Dataset data = counts_of(20, 2100);
    EXPECT_THAT(choice_of(plan_analysis(data, {}), "genes"),
                HasSubstr("2000 of 2100 that vary most, 500 of them by counts beside genes of the same mean; "
                          "chosen anew"));
    data.feature_table.push_back({.name = "highly_variable", .values = std::vector<double>(2100, 1.0)});
    EXPECT_THAT(choice_of(plan_analysis(data, {}), "genes"), HasSubstr("those marked highly_variable"));
}

TEST(Preset, KeepsTheMarkersOfRareCells) {
    Dataset data = counts_of(400, 300);
    Matrix X = to_dense(std::get<SparseMatrix<double>>(data.X));
    X.row(7).setZero();
    X.row(7).segment(100, 6).setConstant(8.0);
    for (const bool sparse : {false, true}) {
        Dataset found = data;
        if (sparse) {
            found.X = test::to_sparse(X);
        } else {
            found.X = X;
        }
        prepare(found, {.normalize = Normalize::counts, .genes = {.most_variable = 100}});
        EXPECT_EQ(found.features(), 100);
        EXPECT_THAT(found.feature_names, testing::Contains("gene7"));
    }
    // By logarithms alone it is none of them.
    Dataset logged = data;
    logged.X = X;
    scale_cells_to(logged, 1e4);
    take_logarithms(logged);
    EXPECT_THAT(variable_features(logged, 100), testing::Not(testing::Contains(7)));
}

TEST(Preset, PhasesOfALoopAreInRadians) {
    Dataset data = counts_of(60, 100);
    std::vector<double> angle(60);
    std::iota(angle.begin(), angle.end(), 0.0); // up to 59
    data.cell_table.push_back({.name = "angle", .values = angle});
    AnalysisOptions asked;
    asked.without_loop = "angle";
    Analysis analysis = plan_analysis(data, asked);
    Dataset degrees = data;
    EXPECT_THAT([&] { prepare(degrees, analysis, asked); },
                ThrowsMessage<InputError>(HasSubstr("phases are in radians, and 'angle' goes from 0 to 59")));
    for (double& one : std::get<std::vector<double>>(data.cell_table[0].values)) {
        one *= 0.1;
    }
    prepare(data, analysis, asked);
    EXPECT_EQ(data.input.steps.back().name, step::without_loop);
}

/// How many programs are said to be supported, of 12.
std::string said_of_rank(Dataset data, Index rank) {
    AnalysisOptions asked;
    asked.fit.rank = rank;
    asked.given = {"rank"};
    Analysis analysis = plan_analysis(data, asked);
    prepare(data, analysis, asked);
    return choice_of(analysis, "rank");
}

TEST(Preset, SaysHowManyProgramsTheValuesSupport) {
    Random random(6);
    Dataset data = named_data(Matrix(Matrix::NullaryExpr(300, 400, [&](Index gene, Index cell) {
        const double mean = gene / 50 == cell / 100 ? 6.0 : 1.0; // four types, each with its markers
        return std::floor(-mean * std::log(1.0 - random.uniform()));
    })));
    EXPECT_THAT(said_of_rank(data, 12), HasSubstr("rank 12: the values support about 4 programs"));
    EXPECT_EQ(said_of_rank(data, 2), "");
    prepare(data, {.normalize = Normalize::counts, .unit_cells = true});
    EXPECT_EQ(supported_rank(data, 12), 4) << "four types differ in three directions";
    EXPECT_EQ(supported_rank(data, 3), 3) << "no more than is asked for";
    data.X = Matrix(Matrix::Ones(300, 400));
    EXPECT_EQ(supported_rank(data, 12), 1) << "all cells are equal";
}

TEST(Preset, RanksAgreeOnHowManyProgramsTheValuesSupport) {
    const Dataset data = counts_of(2500, 60);
    const Index expected = supported_rank(data, 8);
    test::ThreadRanks ranks(3);
    ranks.run([&](int) {
        Dataset part = data;
        io::keep_share(part);
        EXPECT_EQ(supported_rank(part, 8), expected);
    });
}

} // namespace
} // namespace pnmf
