#include "graphs/sparse_graph.hpp"
#include "support/clouds.hpp"
#include "support/paths.hpp"

#include <pnmf/assess/programs.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/run/run.hpp>

#include <gtest/gtest.h>

/// A run of more cells than one block works on them in another order. What it says of a cell must be of that
/// cell all the same.
namespace pnmf::test {
namespace {

class RunInOrder : public testing::Test {
  protected:
    const SparseMatrix<double> values = sparse_cloud(23, 4200, 0.3, 5);
    const DataValues X = values;
    const TemporaryFolder folder;

    static RunOptions options() {
        RunOptions options;
        options.fit = {.rank = 3, .filtration = {.scales = {.max_scales = 2}, .neighbors = 4}};
        options.fit.solver.max_sweeps = 2;
        return options;
    }
};

TEST_F(RunInOrder, ClustersAndProgramsAreThoseOfTheData) {
    RunOptions asked = options();
    asked.clusters = 3;
    const auto run = run_fit<double>(X, asked);
    ASSERT_FALSE(run.prepared.order.empty());
    const auto& factors = run.result.factors;
    const Filtration filtration = make_filtration(Points(to_dense(values)), options().fit.filtration);
    const auto& graph = dynamic_cast<const SparseMultiscaleGraph&>(*filtration.graph);
    const Assessment twin = assess_scales(2, [&](Index t) { return factors.H[static_cast<std::size_t>(t)]; },
                                          run.result.scales.epsilon, h0_diagram(filtration.tree).deaths,
                                          {.clusters = 3, .graph = &graph.lists()});
    EXPECT_EQ(run.assessment.clusters, twin.clusters);
    EXPECT_EQ(run.assessment.cluster_count, twin.cluster_count);
    const auto at = static_cast<std::size_t>(run.assessment.recommended);
    const Matrix usages = program_usages(factors.W[at], factors.H[at]);
    const Matrix scores = program_scores(DataMatrix<double>(values), usages);
    EXPECT_LT((run.assessment.programs.scores.cast<double>() - scores).cwiseAbs().maxCoeff(),
              1e-5 * scores.cwiseAbs().maxCoeff());
}

TEST_F(RunInOrder, AStartFromAResultHasTheCellsOfThatResult) {
    const auto first = run_fit<double>(X, options());
    Dataset data;
    data.X = X;
    for (Index i = 0; i < values.rows; ++i) {
        data.feature_names.push_back("gene" + std::to_string(i));
    }
    for (Index j = 0; j < values.cols; ++j) {
        data.cell_names.push_back("cell" + std::to_string(j));
    }
    const std::filesystem::path file = folder / "first.h5ad";
    write_result(file, data, first.prepared, first.result, first.assessment, {.save_basis = true});
    RunOptions next = options();
    next.start_from = known_fit(read_stored_result(file));
    next.fit.solver.max_sweeps = 0;
    const auto second = run_fit<double>(X, next);
    for (std::size_t t = 0; t < 2; ++t) {
        EXPECT_LT((second.result.factors.H[t] - first.result.factors.H[t]).norm(),
                  1e-12 * first.result.factors.H[t].norm());
    }
}

} // namespace
} // namespace pnmf::test
