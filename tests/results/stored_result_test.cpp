#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/solvers/option_list.hpp>

#include "support/clouds.hpp"
#include "support/paths.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <numeric>

namespace pnmf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Index features = 6;
constexpr Index cells = 12;

std::string complaint_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const InputError& e) {
        return e.what();
    }
    return "nothing was wrong";
}

class Stored : public testing::Test {
  protected:
    Stored() {
        data_.X = test::uniform_cloud(features, cells, 3);
        for (Index i = 0; i < features; ++i) {
            data_.feature_names.push_back("gene" + std::to_string(i));
        }
        for (Index j = 0; j < cells; ++j) {
            data_.cell_names.push_back("cell" + std::to_string(j));
        }
        data_.input = {.format = "text", .cells = CellAxis::columns, .known = true};
        FitOptions options;
        options.rank = 3;
        options.solver.max_sweeps = 5;
        options.seed = 4;
        options.filtration.neighbors = 3;
        run_ = run_fit<double>(view_of(data_.X), {.fit = options, .clusters = 3});
        write_result(path_, data_, run_.prepared, run_.result, run_.assessment,
                     {.save_basis = true, .command = "pnmf fit x"});
    }

    /// The result after AnnData took these cells, in this order: tables and obsm follow, uns does not.
    std::filesystem::path taken(const std::vector<Index>& order) const {
        AnnDataFile file = read_anndata(path_);
        AnnDataFile copy = file;
        copy.cell_names.clear();
        for (const Index j : order) {
            copy.cell_names.push_back(file.cell_names[static_cast<std::size_t>(j)]);
        }
        for (auto& [name, matrix] : copy.obsm) {
            matrix = Matrix(file.obsm.at(name)(order, Eigen::all));
        }
        copy.cell_table.clear();
        const auto path = folder_ / "taken.h5ad";
        write_anndata(path, copy);
        return path;
    }
    /// The result with its entries changed.
    std::filesystem::path changed(const std::function<void(AnnDataFile&, AnnDataMap&)>& change,
                                  const std::filesystem::path& from = {}) const {
        AnnDataFile file = read_anndata(from.empty() ? path_ : from);
        change(file, std::get<AnnDataMap>(file.uns.at("pnmf").value));
        const auto path = folder_ / "changed.h5ad";
        write_anndata(path, file);
        return path;
    }
    static void forget_names(AnnDataFile&, AnnDataMap& uns) {
        for (const char* later : {"cells", "features", "input", "precision"}) {
            uns.erase(later);
        }
    }
    std::vector<Index> some_order() const { return {3, 0, 11, 7, 1, 2, 4, 10, 9, 8, 6, 5}; }

    test::TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "result.h5ad";
    Dataset data_;
    pnmf::Run<double> run_;
};

TEST_F(Stored, IsReadBackAsItWasWritten) {
    for (const StoredResult& result :
         {read_stored_result(path_), read_stored_result(folder_.path()),
          stored_result(result_file(data_, run_.prepared, run_.result, run_.assessment,
                                    {.save_basis = true, .command = "pnmf fit x"}))}) {
        EXPECT_EQ(result.scales, run_.result.scales.size());
        EXPECT_EQ(result.rank, 3);
        EXPECT_EQ(result.cells(), cells);
        EXPECT_EQ(result.epsilon, run_.result.scales.epsilon);
        EXPECT_EQ(result.betti0, run_.result.scales.betti0);
        EXPECT_EQ(result.deaths.size(), static_cast<std::size_t>(cells - 1));
        EXPECT_EQ(result.recommended, run_.assessment.recommended);
        EXPECT_EQ(result.cluster_count, 3);
        EXPECT_EQ(result.method, "pnmf");
        EXPECT_EQ(result.stop, "sweep limit");
        EXPECT_EQ(result.command, "pnmf fit x");
        EXPECT_EQ(result.warnings, run_.result.warnings);
        EXPECT_EQ(result.penalty.smoothness, run_.prepared.penalty.smoothness);
        EXPECT_EQ(result.precision, Precision::full);
        EXPECT_EQ(result.features, data_.feature_names);
        EXPECT_EQ(result.input.format, "text");
        EXPECT_TRUE(result.has_basis);
        for (Index t = 0; t < result.scales; ++t) {
            EXPECT_EQ(result.H(t), run_.result.factors.H[t]);
            EXPECT_EQ(result.W(t), run_.result.factors.W[t]);
            EXPECT_EQ(result.clusters(t), run_.assessment.clusters[t]);
        }
        EXPECT_EQ(*result.recommended_basis(), run_.result.factors.W[result.recommended]);
        FitOptions made = run_.prepared.options;
        made.solver.device = Device::automatic; // where a fit was made binds nobody who reads it
        EXPECT_EQ(options_json(result.options()), options_json(made));
    }
}

TEST_F(Stored, FollowsItsCellsIntoAnotherOrder) {
    const StoredResult result = read_stored_result(taken(some_order()));
    EXPECT_TRUE(result.order.whole);
    for (Index t = 0; t < result.scales; ++t) {
        EXPECT_EQ(result.H(t), Matrix(run_.result.factors.H[t](Eigen::all, some_order())));
        for (Index j = 0; j < cells; ++j) {
            EXPECT_EQ(result.clusters(t)[j], run_.assessment.clusters[t][some_order()[j]]);
        }
    }
    EXPECT_EQ(Matrix(result.H(result.recommended).transpose()), result.file.obsm.at("X_pnmf"));
}

TEST_F(Stored, HasTheEmbeddingsOfTheCellsThatAreLeft) {
    const std::vector<Index> left{8, 2, 5};
    const StoredResult result = read_stored_result(taken(left));
    EXPECT_FALSE(result.order.whole);
    EXPECT_EQ(result.cells(), 3);
    EXPECT_EQ(result.order.of_fit, cells);
    EXPECT_EQ(result.H(0), Matrix(run_.result.factors.H[0](Eigen::all, left)));
    EXPECT_EQ(result.clusters(0).size(), 3U);
    EXPECT_THAT(complaint_of([&] { require_whole(result, "this is"); }), HasSubstr("3 of its 12 cells"));
}

TEST_F(Stored, RefusesCellsThatItCannotTell) {
    const auto complaint = [&](const std::filesystem::path& path) {
        return complaint_of([&] { read_stored_result(path); });
    };
    EXPECT_THAT(complaint(changed([](AnnDataFile& file, AnnDataMap&) { file.cell_names[2] = "other"; })),
                HasSubstr("1 of 12 cells are not among those of the fit: other"));
    EXPECT_THAT(complaint(changed([](AnnDataFile& file, AnnDataMap&) { file.cell_names[2] = "cell3"; })),
                HasSubstr("some cells have the same name"));
    // The fit itself had two cells of one name: only the embedding in obsm can confirm the order.
    const auto repeat = [](AnnDataFile& file, AnnDataMap& uns) {
        file.cell_names[2] = "cell3";
        uns["cells"] = file.cell_names;
    };
    EXPECT_EQ(complaint(changed(repeat)), "nothing was wrong");
    EXPECT_THAT(complaint(changed([&](AnnDataFile& file, AnnDataMap& uns) {
                    repeat(file, uns);
                    file.obsm.clear();
                })),
                HasSubstr("cannot be confirmed"));
    EXPECT_THAT(complaint(changed([&](AnnDataFile& file, AnnDataMap& uns) {
                    repeat(file, uns);
                    file.obsm.at("X_pnmf").row(2).swap(file.obsm.at("X_pnmf").row(3));
                })),
                HasSubstr("cannot be confirmed"));
    EXPECT_THAT(complaint(changed([](AnnDataFile&, AnnDataMap& uns) { uns.erase("H"); })),
                HasSubstr("not a result of a fit"));
}

TEST_F(Stored, OfVersion01OpensUnlessItsCellsWereReordered) {
    const StoredResult result = read_stored_result(changed(forget_names));
    EXPECT_EQ(result.H(1), run_.result.factors.H[1]);
    EXPECT_EQ(result.order.notice, "");
    EXPECT_FALSE(result.input.known);
    EXPECT_EQ(transform_of(result.input), Transform::none);
    EXPECT_EQ(result.precision, Precision::full);
    EXPECT_EQ(result.features, data_.feature_names);

    EXPECT_THAT(complaint_of([&] { read_stored_result(changed(forget_names, taken(some_order()))); }),
                HasSubstr("another order"));
    EXPECT_THAT(complaint_of([&] {
                    read_stored_result(changed(forget_names, taken({1, 2, 3})));
                }),
                HasSubstr("the fit had 12 cells, 3 are here"));
    const StoredResult unsure = read_stored_result(changed([](AnnDataFile& file, AnnDataMap& uns) {
        forget_names(file, uns);
        file.obsm.clear();
    }));
    EXPECT_THAT(unsure.order.notice, HasSubstr("does not name its cells"));
}

TEST_F(Stored, GenesBesideThoseOfTheFitFollowTheirCells) {
    StoredResult result = read_stored_result(taken(some_order()));
    result.input.steps.push_back({.name = step::chosen_genes});
    Dataset data = data_;
    auto& X = std::get<Matrix>(data.X);
    X.conservativeResize(X.rows() + 1, Eigen::NoChange);
    X.row(X.rows() - 1).setLinSpaced(1.0, static_cast<double>(X.cols()));
    data.feature_names.push_back("other");
    data.feature_table.clear();
    const auto path = folder_ / "data.csv";
    write_delimited(path, data);
    const Dataset again = read_data_of(result, path);
    ASSERT_TRUE(again.others);
    ASSERT_EQ(std::ssize(again.others->values.value), again.cells());
    for (Index j = 0; j < again.cells(); ++j) {
        EXPECT_EQ(again.others->values.value[j], static_cast<float>(some_order()[j] + 1));
    }
}

TEST_F(Stored, FindsItsDataInAnyOrderAndRefusesOthers) {
    const StoredResult result = read_stored_result(taken(some_order()));
    const auto path = folder_ / "data.csv";
    const auto write = [&](const std::function<void(Dataset&)>& change) {
        Dataset data = data_;
        change(data);
        write_delimited(path, data);
    };
    write([](Dataset& data) { // the same cells backwards
        data.X = Matrix(std::get<Matrix>(data.X).rowwise().reverse());
        std::reverse(data.cell_names.begin(), data.cell_names.end());
    });
    const Dataset again = read_data_of(result, path);
    EXPECT_EQ(again.cell_names, result.file.cell_names);
    EXPECT_LT((std::get<Matrix>(again.X) - std::get<Matrix>(data_.X)(Eigen::all, some_order())).norm(),
              1e-12);

    write([](Dataset& data) { data.cell_names[5] = "stranger"; });
    EXPECT_THAT(complaint_of([&] { read_data_of(result, path); }),
                HasSubstr("1 of its 12 cells are not among those of the fit: stranger"));
    write([](Dataset& data) { data.feature_names[5] = "stranger"; });
    EXPECT_THAT(complaint_of([&] { read_data_of(result, path); }), HasSubstr("genes are missing: gene5"));
    EXPECT_THAT(complaint_of([&] { read_data_of(result, path, {.transform = Transform::log_unit}); }),
                HasSubstr("the fit read its data with the transform none, but log-unit is asked for"));
    EXPECT_THAT(complaint_of([&] { read_data_of(result, path, {.cells = CellAxis::rows}); }),
                HasSubstr("cells as columns, but rows is asked for"));
}

TEST(FitOptionsFromJson, AreThoseThatWereWritten) {
    FitOptions options;
    options.rank = 7;
    options.penalty = {.graph = 0.1, .smoothness = 1.0 / 3.0, .anchor = 0.0};
    options.filtration.alpha = 2.0;
    options.filtration.metric = Metric::cosine;
    options.filtration.neighbors = 9;
    options.filtration.search = NeighborSearch::clustered;
    options.filtration.scales.max_scales = 3;
    options.filtration.scales.strategy = ScaleStrategy::random;
    options.solver.algorithm = Algorithm::paper;
    options.solver.tolerance = 1e-7;
    options.solver.extrapolate = false;
    options.start = Start::chained;
    options.seed = 18446744073709551615ULL;
    EXPECT_EQ(options_json(fit_options_from_json(options_json(options))), options_json(options));
    EXPECT_EQ(options_json(fit_options_from_json(options_json(FitOptions{}))), options_json(FitOptions{}));
    EXPECT_EQ(fit_options_from_json(R"({"seed": 5})").seed, 5U);
    EXPECT_EQ(fit_options_from_json(R"({"order": "chain", "rank": 3})").rank, 3); // version 0.1 had more
    EXPECT_THAT(complaint_of([] { fit_options_from_json("{"); }), HasSubstr("cannot be understood"));
    EXPECT_THAT(complaint_of([] { fit_options_from_json(R"({"metric": "taxi"})"); }), HasSubstr("'taxi'"));
    EXPECT_THAT(complaint_of([] { fit_options_from_json(R"({"later": 1})"); }), HasSubstr("'later'"));
}

} // namespace
} // namespace pnmf
