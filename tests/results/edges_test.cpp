#include <pnmf/analysis/preset.hpp>
#include <pnmf/error.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace pnmf {
namespace {

Dataset dataset_of(std::variant<Matrix, SparseMatrix<double>> X) {
    Dataset data;
    data.X = std::move(X);
    for (Index i = 0; i < data.features(); ++i) {
        data.feature_names.push_back("gene" + std::to_string(i));
    }
    for (Index j = 0; j < data.cells(); ++j) {
        data.cell_names.push_back("cell" + std::to_string(j));
    }
    return data;
}

Dataset few_cells(Index cells) {
    const CellModel model = make_cell_model({.cells = cells, .genes = 40, .types = 3, .seed = 5});
    return dataset_of(simulate_cells(model, 0, cells).counts);
}

void expect_labels(const std::vector<Index>& labels, Index cells, Index clusters, const std::string& what) {
    ASSERT_EQ(std::ssize(labels), cells) << what;
    EXPECT_GE(*std::min_element(labels.begin(), labels.end()), 0) << what;
    EXPECT_LT(*std::max_element(labels.begin(), labels.end()), clusters) << what;
}

/// Whatever the data are: numbers that can be, and no scale that has collapsed while another has not.
template <class Real>
void expect_possible(const Run<Real>& run, Index cells, const std::string& what) {
    const Assessment& found = run.assessment;
    const Index scales = run.result.scales.size();
    EXPECT_GE(found.cluster_count, 1) << what;
    EXPECT_LE(found.cluster_count, cells) << what;
    ASSERT_EQ(std::ssize(found.clusters), scales) << what;
    for (const std::vector<Index>& labels : found.clusters) {
        expect_labels(labels, cells, found.cluster_count, what);
    }
    ASSERT_GE(found.recommended, 0) << what;
    ASSERT_LT(found.recommended, scales) << what;
    const std::vector<double>& rank = run.result.effective_rank;
    EXPECT_FALSE(has_collapsed(std::max(1.0, rank[static_cast<std::size_t>(found.recommended)]),
                               std::max(1.0, rank.front())))
        << what << ": scale " << found.recommended << " of " << scales;
    ASSERT_GE(found.resolutions.recommended, 0) << what;
    ASSERT_LT(found.resolutions.recommended, std::ssize(found.resolutions.all)) << what;
    for (const Resolution& one : found.resolutions.all) {
        EXPECT_GE(one.clusters, 1) << what;
        EXPECT_LE(one.clusters, cells) << what;
        EXPECT_GE(one.scale, 0) << what;
        EXPECT_LT(one.scale, scales) << what;
        expect_labels(one.labels, cells, one.clusters, what);
    }
    for (const DenseMatrix<Real>& H : run.result.factors.H) {
        EXPECT_TRUE(H.allFinite()) << what;
    }
}

struct Asked {
    std::string name;
    std::function<void(AnalysisOptions&, RunOptions&, Index)> set;
};

const std::vector<Asked>& asked() {
    static const std::vector<Asked> all{
        {"default", [](AnalysisOptions&, RunOptions&, Index) {}},
        {"1 cluster", [](AnalysisOptions&, RunOptions& run, Index) { run.clusters = 1; }},
        {"all neighbours",
         [](AnalysisOptions& analysis, RunOptions&, Index n) {
             analysis.fit.filtration.neighbors = std::max<Index>(1, n - 1);
             analysis.given.insert("neighbors");
         }},
        {"3 scales",
         [](AnalysisOptions& analysis, RunOptions&, Index) {
             analysis.fit.filtration.scales.max_scales = 3;
             analysis.given.insert("max-scales");
         }},
    };
    return all;
}

/// One cell and equal cells have no principal components, and one cell has no neighbours.
bool may_be_refused(const Dataset& data) {
    const auto* const dense = std::get_if<Matrix>(&data.X);
    return data.cells() == 1 || (dense != nullptr && dense->colwise().sum().isConstant(dense->col(0).sum()));
}

/// As the program does it, with few sweeps.
template <class Real>
void fit_and_expect_possible(Dataset data, Preset preset, const Asked& how, const std::string& name) {
    const std::string what = name + ", " + std::string(name_of(preset)) + ", " + how.name;
    SCOPED_TRACE(what);
    AnalysisOptions options{.preset = preset};
    options.fit.solver.max_sweeps = 3;
    RunOptions run;
    how.set(options, run, data.cells());
    const bool may_refuse = may_be_refused(data);
    try {
        Analysis analysis = plan_analysis(data, options);
        prepare(data, analysis, options);
        run.fit = analysis.fit;
        expect_possible(run_fit<Real>(data.X, run), data.cells(), what);
    } catch (const InputError& error) {
        EXPECT_TRUE(may_refuse) << what << ": " << error.what();
    }
}

void fit_all_ways(const Dataset& data, const std::string& name) {
    for (const Asked& how : asked()) {
        fit_and_expect_possible<float>(data, Preset::cells, how, name);
        fit_and_expect_possible<double>(data, Preset::points, how, name);
        fit_and_expect_possible<double>(data, Preset::paper, how, name);
    }
}

TEST(FitsAtTheEdges, OfOneToThirtyCellsHaveAPossibleAnswer) {
    for (Index n = 1; n <= 30; ++n) {
        fit_all_ways(few_cells(n), std::to_string(n) + " cells");
    }
}

TEST(FitsAtTheEdges, OfEqualCellsHaveAPossibleAnswer) {
    Matrix X = Matrix::Constant(12, 41, 3.0);
    fit_all_ways(dataset_of(X), "equal cells");
    X.col(40) = Vector::LinSpaced(12, 0.0, 11.0);
    fit_all_ways(dataset_of(X), "equal cells and another");
}

TEST(FitsAtTheEdges, OfCompleteNeighbourGraphsHaveAPossibleAnswer) {
    const Asked& all_neighbours = asked()[2];
    for (const Index n : {33, 37, 60}) {
        fit_and_expect_possible<float>(few_cells(n), Preset::cells, all_neighbours, std::to_string(n));
    }
}

TEST(FitsAtTheEdges, OfASpaceWhereAllCellsAreAtOnePlaceHaveAPossibleAnswer) {
    const Dataset data = few_cells(40);
    const Matrix space = Matrix::Constant(3, 40, 0.5);
    for (const std::optional<Index> clusters : {std::optional<Index>(), std::optional<Index>(1)}) {
        RunOptions options{.fit = {.rank = 3}, .space = &space, .clusters = clusters};
        options.fit.filtration.neighbors = 8;
        options.fit.solver.max_sweeps = 3;
        expect_possible(run_fit<double>(data.X, options), 40, "one place");
    }
}

} // namespace
} // namespace pnmf
