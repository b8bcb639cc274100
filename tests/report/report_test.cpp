#include "report/expression.hpp"
#include "report/payload.hpp"
#include "report/report_fixture.hpp"
#include "report/unpacked.hpp"

#include <pnmf/error.hpp>
#include <pnmf/report/report.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

namespace pnmf::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Report, DescribesTheResult) {
    const auto path = fitted();
    const Json meta = meta_of(report_html({{.result = stored(path), .name = "mine", .data = &data_}}));
    EXPECT_EQ(meta["name"], "mine");
    EXPECT_EQ(meta["cells"], 16);
    EXPECT_EQ(meta["rank"], 3);
    EXPECT_EQ(meta["scales"]["epsilon"].get<std::vector<double>>(), result_.scales.epsilon);
    EXPECT_EQ(meta["scales"]["betti0"].get<std::vector<Index>>(), result_.scales.betti0);
    EXPECT_EQ(meta["recommended"].get<Index>(), assessment_.recommended);
    EXPECT_EQ(meta["cell_names"].get<std::vector<std::string>>(), data_.cell_names);
    EXPECT_EQ(meta["columns"][0]["name"], "label");
    EXPECT_EQ(meta["run"]["objective"]["objective"].size(), result_.trace.size());
    EXPECT_EQ(meta["run"]["stop"], "converged");
    EXPECT_EQ(meta["plane"], "principal");
    EXPECT_EQ(meta["edges_total"], 16 * 15 / 2);
}

TEST_F(Report, HoldsTheEmbeddingsAndTheData) {
    const auto path = fitted();
    const std::string html = report_html({{.result = stored(path), .data = &data_}});
    const Json meta = meta_of(html);
    const std::string components = unpacked(html, "pnmf-0-components");
    const auto cells = static_cast<std::size_t>(data_.cells());
    std::vector<float> largest(meta["arrays"]["component_largest"]["count"].get<std::size_t>());
    std::memcpy(largest.data(),
                components.data() + meta["arrays"]["component_largest"]["offset"].get<std::size_t>(),
                largest.size() * sizeof(float));
    ASSERT_EQ(meta["component_scales"].size(), result_.scales.epsilon.size());
    for (std::size_t row = 0; row < largest.size(); ++row) {
        const Matrix& H = result_.factors.H[row / 3];
        for (std::size_t j = 0; j < cells; ++j) {
            const double share = static_cast<std::uint8_t>(components[row * cells + j]) / 255.0;
            EXPECT_NEAR(share * largest[row], H(static_cast<Index>(row % 3), static_cast<Index>(j)),
                        0.51 * largest[row] / 255.0 + 1e-6);
        }
    }
    EXPECT_EQ(meta["genes"].size(), meta["expressed_genes"].get<std::size_t>());
}

TEST_F(Report, HoldsEveryGeneOfSparseDataHoweverFarItsCellsAreApart) {
    const Index cells = 1200;
    Matrix X = Matrix::Zero(4, cells);
    X.row(0).setLinSpaced(1.0, 3.0);
    X(1, 0) = 5.0;
    X(1, 255) = 0.001; // next to nothing, and not zero
    X(1, 765) = 2.0;   // 510 further
    X(2, cells - 1) = 1.0;
    data_ = {};
    data_.X = X;
    for (Index j = 0; j < cells; ++j) {
        data_.cell_names.push_back("cell" + std::to_string(j));
    }
    data_.feature_names = {"all", "few", "one", "none"};
    Payload payload;
    payload.meta["cells"] = cells;
    EXPECT_THAT(add_expression(payload, data_, {2}, 1 << 20), ElementsAre("one", "all", "few", "none"));
    const std::string html = payload.elements(0);
    const Matrix found = expression_of(html, meta_of(html));
    EXPECT_LT((found - X({2, 0, 1, 3}, Eigen::all)).cwiseAbs().maxCoeff(), 5.0 / 255.0);
    EXPECT_EQ((found.array() > 0.0).count(), (X.array() > 0.0).count());
    SparseMatrix<double> sparse;
    sparse.rows = 4;
    sparse.cols = cells;
    for (Index j = 0; j < cells; ++j) {
        for (Index i = 0; i < 4; ++i) {
            if (X(i, j) != 0.0) {
                sparse.row.push_back(static_cast<std::int32_t>(i));
                sparse.value.push_back(X(i, j));
            }
        }
        sparse.start.push_back(std::ssize(sparse.row));
    }
    data_.X = sparse;
    Payload same;
    same.meta["cells"] = cells;
    add_expression(same, data_, {2}, 1 << 20);
    EXPECT_EQ(same.elements(0), html);
}

TEST_F(Report, HasGenesThatTheFitDoesNotHaveAfterItsOwn) {
    data_.others = OtherGenes{.names = {"dull", "other"}, .values = {}};
    auto& X = data_.others->values;
    X.rows = 2;
    X.cols = data_.cells();
    X.start.assign(static_cast<std::size_t>(X.cols) + 1, 3);
    X.start[0] = 0; // all in the first cell
    X.start[1] = 2;
    X.row = {0, 1, 0};
    X.value = {1.0F, 8.0F, 1.0F}; // and one in the second
    Payload payload;
    payload.meta["cells"] = data_.cells();
    const Index p = data_.features();
    const auto names = add_expression(payload, data_, {1}, 1 << 20);
    ASSERT_EQ(std::ssize(names), p + 2);
    EXPECT_EQ(names[0], data_.feature_names[1]);
    EXPECT_EQ(names[static_cast<std::size_t>(p)], "other");
    EXPECT_EQ(names[static_cast<std::size_t>(p) + 1], "dull");
    const std::string html = payload.elements(0);
    const Matrix found = expression_of(html, meta_of(html));
    EXPECT_EQ(found(p, 0), 8.0);
    EXPECT_EQ(found.row(p + 1).head(2), Matrix::Ones(1, 2));
    EXPECT_EQ(found.bottomRows(2).sum(), 10.0);
    Payload small; // those that do not fit are not named
    small.meta["cells"] = data_.cells();
    EXPECT_EQ(std::ssize(add_expression(small, data_, {1}, 1)), p);
}

TEST_F(Report, KeepsTheGenesOfProgramsAndThoseThatVaryMostWhereNotAllFit) {
    const auto path = fitted();
    const auto genes = [&](Index budget) {
        return meta_of(report_html({{.result = stored(path), .data = &data_}}, {.expression_bytes = budget}));
    };
    const Json all = genes(1 << 20);
    EXPECT_EQ(all["expressed_genes"], data_.features());
    const Json few = genes(5 * 2 * 16);
    EXPECT_EQ(few["expressed_genes"], 5);
    EXPECT_EQ(few["genes"], all["genes"]); // their names are there, so that the page can say what is missing
    EXPECT_EQ(few["programs"]["genes"], all["programs"]["genes"]);
    EXPECT_EQ(genes(1)["expressed_genes"], 1);
}

TEST_F(Report, HasGenesThatDoNotFitInAFileBesideThePage) {
    const auto path = fitted();
    const auto source = ReportSource{.result = stored(path), .data = &data_};
    const ReportFiles files = report_files({source, source}, {.expression_bytes = 2 * 3 * 2 * 16});
    const Json meta = meta_of(files.html);
    const std::size_t kept = meta["expressed_genes"];
    const std::vector<std::string> names = meta["genes"];
    ASSERT_LT(kept, names.size());
    ASSERT_EQ(names.size(), data_.feature_names.size());
    const auto sizes = array_of<std::int32_t>(files.html, meta, "beside_bytes");
    const auto cells = array_of<std::int32_t>(files.html, meta, "beside_cells");
    const auto largest = array_of<float>(files.html, meta, "beside_largest");
    const std::string head = meta["beside"]["head"];
    const Matrix& X = std::get<Matrix>(data_.X);
    std::size_t at = head.size();
    EXPECT_EQ(files.genes.substr(0, at), head);
    for (std::size_t g = 0; g < sizes.size(); ++g) {
        std::string bytes(4096, '\0');
        uLongf length = bytes.size();
        ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(bytes.data()), &length,
                             reinterpret_cast<const Bytef*>(files.genes.data() + at),
                             static_cast<uLong>(sizes[g])),
                  Z_OK);
        at += static_cast<std::size_t>(sizes[g]);
        const auto count = static_cast<std::size_t>(cells[g]);
        ASSERT_EQ(length, 2 * count); // sixteen cells: no step needs more than a byte
        Vector values = Vector::Zero(X.cols());
        for (std::size_t i = 0, next = 0; i < count; ++i) {
            next += static_cast<std::uint8_t>(bytes[i]);
            values[static_cast<Index>(next) - 1] =
                static_cast<std::uint8_t>(bytes[count + i]) / 255.0 * static_cast<double>(largest[g]);
        }
        const auto gene = std::find(data_.feature_names.begin(), data_.feature_names.end(), names[kept + g]);
        const Vector expected = X.row(gene - data_.feature_names.begin()).transpose();
        EXPECT_LE((values - expected.cwiseMax(0.0)).cwiseAbs().maxCoeff(), largest[g] / 255.0F);
    }
    // The second result's come after, under a head of their own.
    const Json second = meta_of(files.html, 1)["beside"];
    EXPECT_EQ(second["offset"], at);
    EXPECT_EQ(files.genes.size(), 2 * at);
    EXPECT_EQ(second["head"], head);
    EXPECT_EQ(report_files({source}).genes, "");
    const auto page = folder_ / "page.html";
    write_report(page, files);
    EXPECT_EQ(std::filesystem::file_size(folder_ / "page.genes"), files.genes.size());
    EXPECT_THROW(write_report(folder_ / "page.genes", files), InputError);
}

TEST_F(Report, HasTheTissueOfAResultWithDomains) {
    const Index n = data_.cells();
    const auto path = fitted_tissue(Matrix::Random(2, n));
    const Index scales = result_.factors.scales();
    const std::string html = report_html({{.result = stored(path)}});
    const Json meta = meta_of(html);
    EXPECT_EQ(meta["tissue"]["downwards"], true);
    EXPECT_EQ(meta["tissue"]["domains"], 2);
    EXPECT_EQ(meta["tissue"]["scale"], 1);
    EXPECT_EQ(meta["tissue"]["neighbors"].size(), static_cast<std::size_t>(scales));
    const std::string core = unpacked(html, "pnmf-0-core");
    std::uint32_t length = 0;
    std::memcpy(&length, core.data(), sizeof length);
    const std::size_t begin = (sizeof length + length + 7) / 8 * 8;
    const char* const codes = core.data() + begin + meta["arrays"]["domains"]["offset"].get<std::size_t>();
    for (Index i = 0; i < scales * n; ++i) { // as at the chosen scale, everywhere
        EXPECT_EQ(codes[i], i % n < n / 2 ? 1 : 0);
    }
    StoredResult damaged = read_stored_result(path);
    std::get<AnnDataMap>(std::get<AnnDataMap>(damaged.file.uns.at("pnmf").value).at("domains").value)
        .erase("neighbors");
    EXPECT_THAT(
        [&] { report_html({{.result = &damaged}}); },
        ::testing::ThrowsMessage<InputError>(HasSubstr("must have a domain for each of the 16 cells")));
}

TEST_F(Report, HasTheImageBehindATissueFromMemoryOrTheFile) {
    const NumericArray red{.shape = {2, 4, 3}, .values = std::vector<float>(24, 1.0F)};
    const AnnDataMap spatial{
        {"slide", AnnDataMap{{"images", AnnDataMap{{"lowres", red}}},
                             {"scalefactors", AnnDataMap{{"tissue_lowres_scalef", 0.5}}}}}};
    AnnDataFile input;
    input.cell_names = data_.cell_names;
    input.feature_names = data_.feature_names;
    input.uns["spatial"] = {spatial};
    write_anndata(folder_ / "input.h5ad", input);
    const Matrix places = 3.0 * (Matrix::Random(2, data_.cells()).array() + 1.0); // of 8 x 4
    const auto path = fitted_tissue(places, folder_ / "input.h5ad");
    const Json images = meta_of(report_html({{.result = stored(path)}}))["tissue"]["images"];
    ASSERT_EQ(images.size(), 1U);
    EXPECT_EQ(images[0]["slice"], 0);
    StoredResult held = read_stored_result(path);
    held.name = "in memory";
    EXPECT_TRUE(meta_of(report_html({{.result = &held}}))["tissue"]["images"].empty());
    held.file.uns["spatial"] = spatial;
    const std::string html = report_html({{.result = &held}});
    EXPECT_EQ(meta_of(html)["tissue"]["images"], images);
    EXPECT_FALSE(unpacked(html, "pnmf-0-image").empty());
}

TEST_F(Report, TakesTheBasisFromMemoryOrTheFileOrTheRecommendedScale) {
    const auto genes_of = [&](const ReportSource& source) { return meta_of(report_html({source})); };
    const auto path = fitted();
    const Json recommended = genes_of({.result = stored(path)});
    EXPECT_EQ(recommended["programs"]["scales"].size(), 1U);
    const StoredResult held =
        stored_result(result_file(data_, prepared_, result_, assessment_, {.save_basis = true}));
    const Json memory = genes_of({.result = &held});
    EXPECT_EQ(memory["programs"]["scales"].size(), result_.scales.epsilon.size());
    const Json file = genes_of({.result = stored(fitted(3, true))});
    EXPECT_EQ(file["programs"], memory["programs"]);
    EXPECT_EQ(file["genes"], memory["genes"]);
    ASSERT_EQ(memory["programs"]["paths"].size(), 3U); // a program for each component
    EXPECT_EQ(memory["programs"]["order"].size(), 3U);
    for (const Json& path : memory["programs"]["paths"]) {
        EXPECT_GE(path["first"], 1);
        EXPECT_LE(path["last"], std::ssize(result_.scales.epsilon));
        EXPECT_GT(path["persistence"], 0.0);
    }
}

TEST_F(Report, LetsNoNameBecomeMarkup) {
    const std::string hostile = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)>";
    data_.cell_names[0] = hostile;
    data_.feature_names[0] = hostile;
    auto& labels = std::get<std::vector<std::string>>(data_.cell_table[0].values);
    labels[1] = hostile;
    data_.cell_table[0].name = hostile;
    data_.cell_names[1] = std::string("not text: \xff\xfe");
    const auto path = fitted();
    const std::string html = report_html({{.result = stored(path), .name = hostile, .data = &data_}});
    EXPECT_THAT(html, Not(HasSubstr("alert(")));
    EXPECT_THAT(html, Not(HasSubstr("onerror=alert")));
    const Json meta = meta_of(html);
    EXPECT_EQ(meta["cell_names"][0], hostile);
    EXPECT_EQ(meta["columns"][0]["name"], hostile);
    EXPECT_EQ(meta["name"], hostile);
}

TEST_F(Report, ShowsFewerScalesWhenTheyDoNotFitWithTheRecommendedOneAmongThem) {
    const auto path = fitted();
    const Json meta = meta_of(report_html({{.result = stored(path)}}, {.position_bytes = 5 * 4 * 16}));
    const auto positions = meta["scales"]["position"].get<std::vector<Index>>();
    EXPECT_EQ(positions.size(), 5U);
    EXPECT_EQ(positions[meta["recommended"].get<std::size_t>()], assessment_.recommended);
    EXPECT_EQ(positions.back(), result_.scales.size() - 1);
    EXPECT_EQ(meta["scales"]["total"].get<Index>(), result_.scales.size());
}

TEST_F(Report, HoldsTwoResultsSideBySideAndNoMore) {
    const auto path = fitted();
    const std::string html =
        report_html({{.result = stored(path), .name = "a"}, {.result = stored(path), .name = "b"}});
    EXPECT_EQ(meta_of(html, 0)["name"], "a");
    EXPECT_EQ(meta_of(html, 1)["name"], "b");
    EXPECT_THROW(report_html({}), InputError);
    EXPECT_THROW(report_html({{.result = stored(path)}, {.result = stored(path)}, {.result = stored(path)}}),
                 InputError);
}

TEST_F(Report, RefusesDataOfOtherCellsAndFilesThatAreNoResults) {
    const auto path = fitted();
    Dataset other = data_;
    other.cell_names[3] = "stranger";
    EXPECT_THROW(report_html({{.result = stored(path), .data = &other}}), InputError);
    EXPECT_THROW(report_html({{.result = stored(folder_ / "absent.h5ad")}}), InputError);
    write_h5ad(folder_ / "data.h5ad", data_);
    EXPECT_THROW(report_html({{.result = stored(folder_ / "data.h5ad")}}), InputError);
}

/// AnnData takes the cells in another order, or some of them: uns stays as it is.
TEST_F(Report, FollowsTheCellsIntoAnotherOrderAndSaysWhatAPartLeavesOut) {
    const auto path = fitted();
    const Json whole = meta_of(report_html({{.result = stored(path)}}));
    AnnDataFile file = read_anndata(path);
    const std::vector<std::string> names = file.cell_names;
    std::reverse(file.cell_names.begin(), file.cell_names.end());
    file.obsm.clear();
    file.cell_table.clear();
    write_anndata(folder_ / "reversed.h5ad", file);
    const std::string html = report_html({{.result = stored(folder_ / "reversed.h5ad")}});
    const Json reversed = meta_of(html);
    EXPECT_EQ(reversed["cell_names"][0], names.back());
    const auto merges = [&](const std::string& of, const Json& meta) {
        const std::string core = unpacked(of, "pnmf-0-core");
        std::uint32_t length = 0;
        std::memcpy(&length, core.data(), sizeof length);
        const std::size_t base = (sizeof length + length + 7) / 8 * 8;
        std::vector<std::int32_t> ends(2 * 15);
        std::memcpy(ends.data(), core.data() + base + meta["arrays"]["merges"]["offset"].get<std::size_t>(),
                    ends.size() * sizeof(std::int32_t));
        return ends;
    };
    std::vector<std::int32_t> expected = merges(report_html({{.result = stored(path)}}), whole);
    for (std::int32_t& end : expected) {
        end = end < 16 ? 15 - end : end; // a leaf is a cell
    }
    EXPECT_EQ(merges(html, reversed), expected);

    file.cell_names.resize(5);
    write_anndata(folder_ / "part.h5ad", file);
    const Json part = meta_of(report_html({{.result = stored(folder_ / "part.h5ad")}}));
    EXPECT_EQ(part["cells"], 5);
    EXPECT_FALSE(part["arrays"].contains("merges"));
    EXPECT_THAT(part["run"]["notices"].dump(), HasSubstr("5 of the 16 cells of the fit are shown"));
}

TEST_F(Report, GivesALabelItsPlaceAmongAllCategoriesOfItsColumn) {
    data_.cell_table[0].categories = {"ring9", "ring3", "ring1", "ring0", "ring2"};
    const Json meta = meta_of(report_html({{.result = stored(fitted())}}));
    EXPECT_EQ(meta["columns"][0]["categories"], Json({"ring9", "ring3", "ring1", "ring0", "ring2"}));
}

TEST_F(Report, HasTheDiagramThatLoopsWereLookedForInWhereItIsKept) {
    const auto path = fitted();
    EXPECT_FALSE(meta_of(report_html({{.result = stored(path)}})).contains("loops"));
    AnnDataFile file = read_anndata(path);
    std::vector<double> births(1000, 0.5);
    file.uns["pnmf_loops"] = AnnDataMap{{"birth", numeric_array(births)},
                                        {"death", numeric_array(std::vector<double>(1000, 0.75))},
                                        {"joins", numeric_array(std::vector<double>{0.1, 0.3})},
                                        {"chance", std::nan("")},
                                        {"p_values", numeric_array(std::vector<double>{0.02})}};
    write_anndata(path, file);
    const std::string html = report_html({{.result = stored(path)}});
    const Json meta = meta_of(html);
    EXPECT_EQ(meta["loops"], Json::parse(R"({"chance": null, "p_value": null, "p_values": [0.02]})"));
    EXPECT_EQ(array_of<float>(html, meta, "loop_deaths"), std::vector<float>(400, 0.75F)) << "no more";
    EXPECT_THAT(array_of<float>(html, meta, "loop_joins"), ElementsAre(0.3F, 0.1F));
    births.pop_back();
    std::get<AnnDataMap>(file.uns["pnmf_loops"].value)["birth"] = numeric_array(births);
    write_anndata(path, file);
    EXPECT_FALSE(meta_of(report_html({{.result = stored(path)}})).contains("loops")) << "damaged";
}

/// A result that was clustered: three scales, the clusters renamed from each to the next.
TEST_F(Report, KeepsTheNumberOfAClusterFromScaleToScale) {
    AnnDataFile file;
    AnnDataMap uns;
    std::vector<double> H;
    std::vector<std::int64_t> clusters;
    for (int t = 0; t < 3; ++t) {
        for (int j = 0; j < 6; ++j) {
            H.push_back(j + t);
            clusters.push_back((j / 2 + t) % 3);
        }
    }
    std::vector<std::string> labels;
    for (int j = 0; j < 6; ++j) {
        file.cell_names.push_back("c" + std::to_string(j));
        labels.push_back(j == 5 ? "" : "type" + std::to_string(j / 2));
    }
    file.feature_names = {"g"};
    file.cell_table.push_back({.name = "type", .values = labels, .categorical = true});
    uns["H"] = NumericArray{.shape = {3, 1, 6}, .values = H};
    uns["clusters"] = NumericArray{.shape = {3, 6}, .values = clusters};
    uns["epsilon"] = numeric_array(std::vector<double>{1.0, 2.0, 3.0});
    uns["scores"] = AnnDataMap{{"silhouette", numeric_array(std::vector<double>{0.1, NAN, 0.3})}};
    uns["recommended"] = 2;
    file.uns["pnmf"] = std::move(uns);
    write_anndata(folder_ / "clustered.h5ad", file);
    const std::string html = report_html({{.result = stored(folder_ / "clustered.h5ad")}});
    const Json meta = meta_of(html);
    EXPECT_EQ(meta["cluster_count"], 3);
    EXPECT_EQ(meta["label_scores"][0]["ari"], Json({1.0, 1.0, 1.0})) << "without the cell that has no label";
    EXPECT_EQ(meta["run"]["notices"][1],
              "1 of 6 cells have no label in type and are left out of the agreement with it");
    EXPECT_EQ(meta["scales"]["scores"]["silhouette"], Json({0.1, nullptr, 0.3}));
    EXPECT_EQ(meta["recommended"], 2);
    const std::string core = unpacked(html, "pnmf-0-core");
    std::uint32_t length = 0;
    std::memcpy(&length, core.data(), sizeof length);
    const std::size_t base = (sizeof length + length + 7) / 8 * 8;
    const std::string stored =
        core.substr(base + meta["arrays"]["clusters"]["offset"].get<std::size_t>(), 18);
    EXPECT_EQ(stored.substr(0, 6), stored.substr(6, 6));
    EXPECT_EQ(stored.substr(0, 6), stored.substr(12, 6));
}

} // namespace
} // namespace pnmf::report
