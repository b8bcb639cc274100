#include <pnmf/results/stored_result.hpp>

#include "support/paths.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/assess/programs.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gmock/gmock.h>

#include <cmath>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Dataset drawn_counts() {
    const CellModel model = make_cell_model({.cells = 80, .genes = 50, .types = 3, .seed = 5});
    Dataset data;
    data.X = simulate_cells(model, 0, 80).counts;
    for (Index i = 0; i < data.features(); ++i) {
        data.feature_names.push_back("gene" + std::to_string(i));
    }
    for (Index j = 0; j < data.cells(); ++j) {
        data.cell_names.push_back("cell" + std::to_string(j));
    }
    data.input.format = "h5ad";
    return data;
}

struct Fitted {
    Dataset data;
    Run<double> run;
    AnnDataFile file;
};

Fitted fitted(Dataset data) {
    AnalysisOptions asked;
    asked.fit.rank = 4;
    asked.given = {"rank"};
    asked.precision = Precision::full;
    Analysis analysis = plan_analysis(data, asked);
    prepare(data, analysis, asked);
    Fitted result{.data = std::move(data), .run = {}, .file = {}};
    result.run = run_fit<double>(view_of(result.data.X),
                                 {.fit = analysis.fit, .space = &result.data.space->coordinates});
    result.file = result_file(result.data, result.run.prepared, result.run.result, result.run.assessment);
    return result;
}

TEST(StoredPrograms, AreThoseOfTheFitAfterTheFile) {
    const test::TemporaryFolder folder;
    const Fitted fit = fitted(drawn_counts());
    write_anndata(folder / "result.h5ad", fit.file);
    const auto programs = stored_programs(read_stored_result(folder.path()));
    ASSERT_TRUE(programs.has_value());
    const GenePrograms& found = fit.run.assessment.programs;
    EXPECT_EQ(programs->scores, found.scores);
    EXPECT_EQ(programs->scale, fit.run.assessment.recommended);
    EXPECT_EQ(programs->genes, fit.data.feature_names);
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(programs->persistence[k], found.paths[k].persistence);
        EXPECT_EQ(programs->first_scale[k], found.paths[k].first);
        EXPECT_EQ(programs->last_scale[k], found.paths[k].last);
        EXPECT_EQ(programs->merges_into[k], found.paths[k].merges_into);
        EXPECT_EQ(programs->mean_usage[k], found.mean_usage[static_cast<Index>(k)]);
        EXPECT_EQ(programs->between_clusters[k], found.between_clusters[static_cast<Index>(k)]);
        EXPECT_EQ(programs->follows_depth(static_cast<Index>(k)),
                  std::abs(programs->depth_correlation.at(k)) > depth_driven);
    }
    const std::string table = programs_table(*programs, 3);
    const std::string first = program_name(programs->order().front());
    EXPECT_THAT(table, StartsWith("program\tgene\tscore\trank\tscale\n" + first + "\t"));
    const Index best = top_genes(found.scores, 1)[3][0];
    EXPECT_THAT(table, HasSubstr("P4\tgene" + std::to_string(best) + "\t"));
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 4 * 3);
}

TEST(StoredPrograms, KnowTheDepthOfCellsWhereCountsWereRead) {
    const Dataset counts = drawn_counts();
    Vector sums = Vector::Zero(counts.cells());
    const auto& X = std::get<SparseMatrix<double>>(counts.X);
    for (Index j = 0; j < X.cols; ++j) {
        for (auto e = X.start[j]; e < X.start[j + 1]; ++e) {
            sums[j] += X.value[e];
        }
    }
    const Fitted of_counts = fitted(counts);
    ASSERT_EQ(of_counts.data.cell_table.size(), 1U);
    EXPECT_EQ(of_counts.data.cell_table[0].name, "pnmf_counts");
    EXPECT_EQ(std::get<std::vector<double>>(of_counts.data.cell_table[0].values),
              std::vector<double>(sums.begin(), sums.end()));
    Dataset logs = drawn_counts();
    for (double& value : std::get<SparseMatrix<double>>(logs.X).value) {
        value = std::log1p(value);
    }
    const Fitted of_logs = fitted(std::move(logs));
    EXPECT_TRUE(of_logs.data.cell_table.empty());
    const auto programs = stored_programs(stored_result(of_logs.file));
    ASSERT_TRUE(programs.has_value());
    EXPECT_TRUE(programs->depth_correlation.empty());
    EXPECT_FALSE(programs->follows_depth(0));
}

} // namespace
} // namespace pnmf
