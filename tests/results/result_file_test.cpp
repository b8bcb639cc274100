#include "support/clouds.hpp"
#include "support/paths.hpp"

#include <pnmf/io/h5ad.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/solvers/option_list.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace pnmf {
namespace {

using testing::ElementsAre;

constexpr Index feature_count = 5;
constexpr Index cell_count = 7;

Dataset example() {
    Dataset data;
    data.X = test::uniform_cloud(feature_count, cell_count, 3);
    for (Index i = 0; i < feature_count; ++i) {
        data.feature_names.push_back("gene" + std::to_string(i));
    }
    for (Index j = 0; j < cell_count; ++j) {
        data.cell_names.push_back("cell" + std::to_string(j));
    }
    data.cell_table.push_back({.name = "label",
                               .values = std::vector<std::string>{"a", "b", "a", "b", "a", "b", "b"},
                               .categorical = true});
    return data;
}

template <class Real>
class ResultFile : public testing::Test {
  protected:
    static FitOptions options() {
        FitOptions options;
        options.rank = 2;
        options.solver.max_sweeps = 3;
        options.solver.tolerance = 0.0;
        return options;
    }

    ResultFile() {
        auto state = start_solver(prepared_.problem(), prepared_.options.solver, make_start(prepared_));
        const Stop stop = run_solver(prepared_.problem(), prepared_.options.solver, state);
        result_ = finish_fit(prepared_, std::move(state), stop);
        assessment_ = assess_fit(prepared_, result_, {.clusters = 2});
    }

    void write(bool save_basis) const {
        write_result(path_, data_, prepared_, result_, assessment_,
                     {.save_basis = save_basis, .command = "pnmf fit x"});
    }

    test::TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "result.h5ad";
    Dataset data_ = example();
    PreparedFit<Real> prepared_ = prepare_fit<Real>(data_.X, options());
    FitResult<Real> result_;
    Assessment assessment_;
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ResultFile, Reals);

TYPED_TEST(ResultFile, HasEveryEntryOfTheContractWithItsShape) {
    this->write(true);
    const AnnDataFile file = read_anndata(this->path_);
    EXPECT_EQ(file.cell_names, this->data_.cell_names);
    EXPECT_EQ(file.feature_names, this->data_.feature_names);
    ASSERT_EQ(file.cell_table.size(), 2U);
    EXPECT_EQ(file.cell_table[0].name, "label");
    EXPECT_EQ(file.cell_table[1].name, "pnmf_clusters");
    EXPECT_TRUE(file.cell_table[1].categorical);
    const Matrix& embedding = file.obsm.at("X_pnmf");
    const auto& factors = this->result_.factors;
    EXPECT_EQ(embedding,
              Matrix(factors.H[this->assessment_.recommended].transpose().template cast<double>()));

    const auto shape = [&](const std::string& name) { return array_shape(this->path_, "uns/pnmf/" + name); };
    const Index scales = this->result_.scales.size();
    ASSERT_GE(scales, 2);
    for (const char* name :
         {"epsilon", "betti0", "multiplicity", "kkt", "kkt_H", "kkt_W", "effective_rank"}) {
        EXPECT_THAT(shape(name), ElementsAre(scales)) << name;
    }
    for (const char* name :
         {"objective", "objective_fit", "objective_graph", "objective_smoothness", "objective_anchor"}) {
        EXPECT_THAT(shape(name), ElementsAre(3 + 1)) << name;
    }
    EXPECT_THAT(shape("H"), ElementsAre(scales, 2, cell_count));
    EXPECT_THAT(shape("W"), ElementsAre(scales, feature_count, 2));
    for (const char* name : {"gap_prominence", "stability", "silhouette", "resampling", "combined"}) {
        EXPECT_THAT(shape(std::string("scores/") + name), ElementsAre(scales)) << name;
    }
    EXPECT_THAT(shape("clusters"), ElementsAre(scales, cell_count));
    EXPECT_EQ(std::get<std::int64_t>(find(file.uns, "pnmf/cluster_count")->value), 2);
    EXPECT_THAT(shape("deaths"), ElementsAre(cell_count - 1));
    EXPECT_THAT(shape("merge_tree"), ElementsAre(cell_count - 1, 4));
    for (Index t = 0; t < scales; ++t) {
        EXPECT_EQ(read_slab(this->path_, "uns/pnmf/H", t), Matrix(factors.H[t].template cast<double>()));
        EXPECT_EQ(read_slab(this->path_, "uns/pnmf/W", t), Matrix(factors.W[t].template cast<double>()));
    }
}

TYPED_TEST(ResultFile, HasBasesOnlyWhenAskedFor) {
    this->write(false);
    const AnnDataFile file = read_anndata(this->path_);
    EXPECT_EQ(find(file.uns, "pnmf/W"), nullptr);
    EXPECT_NE(find(file.uns, "pnmf/H"), nullptr);
}

TYPED_TEST(ResultFile, RecordsEveryOptionAsJson) {
    this->write(false);
    const AnnDataFile file = read_anndata(this->path_);
    const auto* options = find(file.uns, "pnmf/options");
    ASSERT_NE(options, nullptr);
    const auto json = nlohmann::json::parse(std::get<std::string>(options->value));
    FitOptions known;
    std::size_t count = 0;
    visit_options(known, [&](const char* name, const auto&, const char*) {
        EXPECT_TRUE(json.contains(name)) << name;
        ++count;
    });
    EXPECT_EQ(json.size(), count);
    EXPECT_EQ(json["rank"], 2);
    EXPECT_EQ(json["lambda3"], 0.1);
    EXPECT_EQ(json["algorithm"], "stationary");
    EXPECT_EQ(std::get<std::string>(find(file.uns, "pnmf/stop")->value), "sweep limit");
    EXPECT_EQ(std::get<std::string>(find(file.uns, "pnmf/command")->value), "pnmf fit x");
}

TYPED_TEST(ResultFile, OpensInAnnDataAndIsWrittenBackUnchanged) {
    this->write(true);
    const auto checked =
        test::run_command(std::string(PNMF_SYSTEM_PYTHON) + " -W error '" +
                          (test::source_dir() / "tests/results/check_result.py").string() + "' '" +
                          this->path_.string() + "' '" + (this->folder_ / "copy.h5ad").string() + "' " +
                          (std::is_same_v<TypeParam, float> ? "float32" : "float64"));
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
}

} // namespace
} // namespace pnmf
