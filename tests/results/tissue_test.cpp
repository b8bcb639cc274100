#include "graphs/sparse_graph.hpp"
#include "run/tissue_types.hpp"
#include "support/paths.hpp"
#include "support/sanitiser.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Dataset tissue_data(const SimulatedTissue& tissue) {
    Dataset data;
    data.X = tissue.cells.counts;
    for (Index i = 0; i < data.features(); ++i) {
        data.feature_names.push_back("gene" + std::to_string(i));
    }
    for (Index j = 0; j < data.cells(); ++j) {
        data.cell_names.push_back("cell" + std::to_string(j));
    }
    data.input.format = "h5ad";
    data.space = Space{.name = "obsm:spatial", .coordinates = tissue.places};
    return data;
}

SimulatedTissue small_tissue(std::uint64_t seed = 0) {
    return simulate_tissue(
        {.cells = {.cells = 600, .genes = 200, .types = 6, .imbalance = 0.0, .seed = seed}, .layers = 3});
}

TableColumn numbers(const std::string& name, const Vector& values) {
    return {.name = name, .values = std::vector<double>(values.begin(), values.end())};
}

TEST(Places, AreColumnsOfTheTableOfCells) {
    Dataset data = tissue_data(small_tissue());
    const Matrix places = data.space->coordinates;
    data.space.reset();
    data.cell_table = {numbers("x", places.row(0)), numbers("y", places.row(1)), numbers("z", places.row(0))};
    add_places(data, "x,y");
    EXPECT_EQ(data.space->coordinates, places);
    add_places(data, "x,y,z");
    EXPECT_EQ(data.space->coordinates.rows(), 3);
    EXPECT_THAT([&] { add_places(data, "x"); }, ThrowsMessage<InputError>(HasSubstr("2 or 3 coordinates")));
    EXPECT_THAT([&] { add_places(data, "x,w"); }, ThrowsMessage<InputError>(HasSubstr("no column 'w'")));
}

TEST(Places, MustBeThereForEachCellAndDiffer) {
    Dataset data = tissue_data(small_tissue());
    data.space->coordinates(1, 4) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT([&] { add_places(data, "obsm:spatial"); },
                ThrowsMessage<InputError>(HasSubstr("1 of 600 cells have none: cell4")));
    data.space->coordinates.setOnes();
    EXPECT_THAT([&] { add_places(data, "obsm:spatial"); },
                ThrowsMessage<InputError>(HasSubstr("all cells are at one place")));
}

TEST(Places, GrowDownwardsWhereTheFileHasAnImage) {
    const test::TemporaryFolder folder;
    const SimulatedTissue tissue = small_tissue();
    AnnDataFile file;
    file.X = tissue.cells.counts;
    file.feature_names = tissue_data(tissue).feature_names;
    file.cell_names = tissue_data(tissue).cell_names;
    file.obsm["spatial"] = tissue.places.transpose();
    write_anndata(folder / "plain.h5ad", file);
    EXPECT_FALSE(read_planned(folder / "plain.h5ad", {}).data.space->downwards);
    file.uns["spatial"] = AnnDataMap{};
    write_anndata(folder / "image.h5ad", file);
    EXPECT_TRUE(read_planned(folder / "image.h5ad", {}).data.space->downwards);
}

TEST(Places, OfVisiumAreMeasuredByItsSpots) {
    const test::TemporaryFolder folder;
    const SimulatedTissue tissue = small_tissue();
    AnnDataFile file;
    file.X = tissue.cells.counts;
    file.feature_names = tissue_data(tissue).feature_names;
    file.cell_names = tissue_data(tissue).cell_names;
    file.obsm["spatial"] = tissue.places.transpose();
    const auto unit = [&](const AnnDataMap& factors, const AnalysisOptions& options = {}) {
        file.uns["spatial"] = AnnDataMap{{"slice", AnnDataMap{{"scalefactors", factors}}}};
        write_anndata(folder / "visium.h5ad", file);
        return read_planned(folder / "visium.h5ad", options).data.space->unit_um;
    };
    EXPECT_EQ(unit({{"spot_diameter_fullres", 110.0}}), 0.5);
    EXPECT_EQ(unit({{"spot_diameter_fullres", std::int64_t{11}}}), 5.0);
    EXPECT_EQ(unit({{"spot_diameter_fullres", 16.0}, {"bin_size_um", 8.0}}), 0.5) << "Visium HD";
    EXPECT_EQ(unit({{"spot_diameter_fullres", 16.0}, {"microns_per_pixel", 0.25}}), 0.25);
    EXPECT_EQ(unit({{"spot_diameter_fullres", std::string("11")}}), std::nullopt);
    const auto of_width = [](double units) {
        return AnnDataMap{{"scalefactors", AnnDataMap{{"spot_diameter_fullres", units}}}};
    };
    file.uns["spatial"] = AnnDataMap{{"one", of_width(110.0)}, {"other", of_width(55.0)}};
    write_anndata(folder / "two.h5ad", file);
    EXPECT_EQ(read_planned(folder / "two.h5ad", {}).data.space->unit_um, std::nullopt) << "slices differ";
    EXPECT_EQ(unit({{"spot_diameter_fullres", 0.0}}), std::nullopt);
    EXPECT_EQ(unit({{"tissue_hires_scalef", 0.1}}), std::nullopt);
    EXPECT_EQ(unit({{"spot_diameter_fullres", 110.0}}, {.unit_um = 2.0}), 2.0);
    EXPECT_THAT([&] { unit({}, {.unit_um = -1.0}); }, ThrowsMessage<InputError>(HasSubstr("more than 0")));
    EXPECT_THAT([&] { unit({}, {.preset = Preset::cells, .unit_um = 2.0}); },
                ThrowsMessage<InputError>(HasSubstr("for the preset spatial")));
}

TEST(PresetSpatial, IsChosenWherePlacesWereReadAndNothingElseIsAskedFor) {
    const Dataset data = tissue_data(small_tissue());
    EXPECT_EQ(plan_analysis(data, {}).preset, Preset::spatial);
    EXPECT_EQ(plan_analysis(data, {.space = "obsm:spatial"}).preset, Preset::cells);
    EXPECT_EQ(plan_analysis(data, {.batch = "plate"}).preset, Preset::cells);
    EXPECT_EQ(plan_analysis(data, {.preset = Preset::cells}).preset, Preset::cells);
    EXPECT_THAT([&] { plan_analysis(data, {.preset = Preset::spatial, .space = "pca:5"}); },
                ThrowsMessage<InputError>(HasSubstr("distances come from the places")));
}

struct FittedTissue {
    Dataset data;
    Run<float> run;
};

TissueRun tissue_run(const Dataset& data, const Analysis& analysis, std::optional<Index> domains) {
    return {.domains = {.domains = domains},
            .types = options_of_types(analysis.fit, data.cells()),
            .expression = &*data.expression};
}

FittedTissue fitted_tissue(Dataset data, std::optional<Index> domains, std::optional<Index> clusters) {
    Analysis analysis = plan_analysis(data, {});
    prepare(data, analysis, {});
    Run<float> run = run_fit<float>(view_of(data.X), {.fit = analysis.fit,
                                                      .space = &data.space->coordinates,
                                                      .clusters = clusters,
                                                      .tissue = tissue_run(data, analysis, domains)});
    return {.data = std::move(data), .run = std::move(run)};
}

TEST(Tissue, HasItsLayersAsDomainsAndItsTypesAsClusters) {
    const SimulatedTissue tissue = small_tissue();
    const FittedTissue result = fitted_tissue(tissue_data(tissue), 3, 6);
    const Domains& domains = *result.run.domains;
    EXPECT_GT(adjusted_rand_index(tissue.layers, domains.labels[static_cast<std::size_t>(domains.scale)]),
              0.6);
    const Assessment& assessment = result.run.assessment;
    const auto& types = assessment.clusters[static_cast<std::size_t>(assessment.recommended)];
    EXPECT_GT(adjusted_rand_index(tissue.cells.types, types), 0.6);
    EXPECT_EQ(assessment.recommended, 0);
    const AnnDataFile file =
        result_file(result.data, result.run.prepared, result.run.result, assessment, {.domains = &domains});
    EXPECT_EQ(file.obsm.at("spatial"), Matrix(tissue.places.transpose()));
    EXPECT_EQ(file.cell_table.back().name, "pnmf_domains");
    EXPECT_NE(find(file.uns, "pnmf/domains/scale"), nullptr);
}

TEST(Tissue, HasTheTypesThatThePresetCellsFinds) {
    const SimulatedTissue tissue = small_tissue(2);
    for (const std::optional<Index> clusters : {std::optional<Index>(6), std::optional<Index>()}) {
        const FittedTissue result = fitted_tissue(tissue_data(tissue), 3, clusters);
        Dataset data = tissue_data(tissue);
        data.space.reset();
        Analysis analysis = plan_analysis(data, {.preset = Preset::cells});
        prepare(data, analysis, {});
        const pnmf::Run<float> cells = run_fit<float>(
            view_of(data.X), {.fit = analysis.fit, .space = &data.space->coordinates, .clusters = clusters});
        const Assessment& types = result.run.assessment;
        EXPECT_EQ(types.recommended, 0);
        EXPECT_EQ(types.clusters[0],
                  cells.assessment.clusters[static_cast<std::size_t>(cells.assessment.recommended)]);
        EXPECT_EQ(types.resolutions.all.size(), cells.assessment.resolutions.all.size());
    }
}

TEST(Tissue, SaysHowMuchIsDoneAndStopsWhereItIsAsked) {
    Dataset data = tissue_data(small_tissue());
    Analysis analysis = plan_analysis(data, {});
    prepare(data, analysis, {});
    const RunOptions options{.fit = analysis.fit,
                             .space = &data.space->coordinates,
                             .clusters = 6,
                             .tissue = tissue_run(data, analysis, 3)};
    double before = 0.0;
    double most_of_types = 0.0;
    bool starts = false;
    RunObserver observer;
    observer.progress = [&](const RunProgress& report) {
        EXPECT_GE(report.fraction, before);
        before = report.fraction;
        starts = starts || report.stage == Stage::starting;
        most_of_types = starts ? most_of_types : before;
        return true;
    };
    run_fit<float>(view_of(data.X), options, observer);
    EXPECT_GT(most_of_types, 0.3);
    EXPECT_LE(most_of_types, 0.5);
    EXPECT_GT(before, 0.8);
    observer.progress = [](const RunProgress& report) { return report.fraction < 0.2; };
    EXPECT_THROW(run_fit<float>(view_of(data.X), options, observer), Interrupted);
    RunOptions without = options;
    without.tissue->expression = nullptr;
    EXPECT_THAT([&] { run_fit<float>(view_of(data.X), without); },
                ThrowsMessage<InputError>(HasSubstr("coordinates of the cells in what they express")));
}

TEST(Tissue, KeepsItsTypesWhenItIsResumed) {
    const test::TemporaryFolder place;
    Dataset data = tissue_data(small_tissue());
    Analysis analysis = plan_analysis(data, {});
    prepare(data, analysis, {});
    analysis.fit.solver.max_sweeps = 2;
    RunOptions options{
        .fit = analysis.fit, .space = &data.space->coordinates, .tissue = tissue_run(data, analysis, 3)};
    const pnmf::Run<float> whole = run_fit<float>(view_of(data.X), options);
    {
        RunFolder folder(place / "run");
        options.folder = &folder;
        RunObserver observer;
        observer.progress = [](const RunProgress& report) { return report.stage != Stage::sweeping; };
        EXPECT_THROW(run_fit<float>(view_of(data.X), options, observer), Interrupted);
        EXPECT_TRUE(std::filesystem::exists(folder.types()));
    }
    for (const bool checkpoint : {false, true}) { // killed before the first one; after it
        const std::filesystem::path path = place / (checkpoint ? "run" : "killed");
        if (!checkpoint) {
            std::filesystem::create_directories(path);
            std::filesystem::copy_file(place / "run" / "types.bin", path / "types.bin");
        }
        RunFolder folder(path, FolderUse::resume);
        options.folder = &folder;
        std::vector<std::string> notices;
        RunObserver observer;
        observer.notice = [&](const std::string& text) { notices.push_back(text); };
        const pnmf::Run<float> resumed = run_fit<float>(view_of(data.X), options, observer);
        EXPECT_THAT(notices, testing::Contains("types: those that the run had found"));
        EXPECT_EQ(resumed.assessment.clusters[0], whole.assessment.clusters[0]);
        EXPECT_EQ(resumed.assessment.notices, whole.assessment.notices);
        EXPECT_EQ(resumed.assessment.resolutions.all.front().share,
                  whole.assessment.resolutions.all.front().share);
        EXPECT_EQ(resumed.domains->labels, whole.domains->labels);
        if (checkpoint) {
            continue;
        }
        notices.clear();
        options.clusters = 5; // others than those that were found
        run_fit<float>(view_of(data.X), options, observer);
        options.clusters.reset();
        EXPECT_THAT(notices, testing::Not(testing::Contains("types: those that the run had found")));
    }
}

TEST(Tissue, TypesOfADamagedFileAreFoundAnew) {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder / "types.bin";
    Assessment types;
    types.cluster_count = 2;
    types.notices = {"two"};
    types.resolutions.all.push_back({.clusters = 2, .labels = {0, 1, 1}, .share = {0.5, 1.0}});
    save_types(file, "these", types);
    const std::optional<Assessment> loaded = load_types(file, "these");
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->notices, types.notices);
    EXPECT_EQ(loaded->resolutions.all[0].labels, types.resolutions.all[0].labels);
    EXPECT_EQ(loaded->resolutions.all[0].share, types.resolutions.all[0].share);
    EXPECT_TRUE(std::isnan(loaded->resolutions.all[0].p_value));
    EXPECT_FALSE(load_types(file, "others"));
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file));
    for (std::int64_t at = 0; at < size; ++at) {
        save_types(file, "these", types);
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekg(at);
        const int byte = bytes.get();
        bytes.seekp(at);
        bytes.put(static_cast<char>(byte ^ 0x10));
        bytes.close();
        EXPECT_FALSE(load_types(file, "these")) << "byte " << at;
        std::filesystem::resize_file(file, static_cast<std::uintmax_t>(at));
        EXPECT_FALSE(load_types(file, "these")) << "cut at " << at;
    }
}

TEST(Tissue, HasItsScalesInMicrometresWhereTheUnitIsKnown) {
    Dataset data = tissue_data(small_tissue());
    data.space->unit_um = 10.0;
    const FittedTissue result = fitted_tissue(std::move(data), 3, 6);
    const StoredResult stored =
        stored_result(result_file(result.data, result.run.prepared, result.run.result, result.run.assessment,
                                  {.domains = &*result.run.domains}));
    EXPECT_EQ(stored.space->unit_um, 10.0);
    const std::vector<double> reach = stored.numbers("domains/micrometres", stored.scales);
    ASSERT_EQ(std::ssize(reach), stored.scales);
    for (std::size_t t = 0; t < reach.size(); ++t) {
        EXPECT_DOUBLE_EQ(reach[t], 10.0 * stored.epsilon[t]);
    }
}

TEST(Tissue, HasNoEdgesBetweenSamples) {
    const SimulatedTissue tissue = small_tissue(1);
    Dataset data = tissue_data(tissue);
    std::vector<std::string> samples;
    for (Index j = 0; j < data.cells(); ++j) { // the same places in both
        samples.push_back(j % 2 == 0 ? "a" : "b");
    }
    add_samples(data, samples);
    const FittedTissue result = fitted_tissue(std::move(data), 3, 6);
    const auto& graph = dynamic_cast<const SparseMultiscaleGraph&>(*result.run.prepared.graph);
    const double coarsest = result.run.prepared.scales.epsilon.back();
    Index crossing = 0;
    for (Index j = 0; j < graph.lists().cells(); ++j) {
        for (auto e = graph.lists().start[j]; e < graph.lists().start[j + 1]; ++e) {
            crossing +=
                graph.lists().length[e] < coarsest && samples[j] != samples[graph.lists().cell[e]] ? 1 : 0;
        }
    }
    EXPECT_EQ(crossing, 0);
    EXPECT_GE(result.run.prepared.scales.size(), 6);
    EXPECT_THAT(result.data.space->slices->names, testing::ElementsAre("a", "b"));
    EXPECT_LT((places_in_slices(*result.data.space) - tissue.places).cwiseAbs().maxCoeff(), 1e-9);
    const AnnDataFile file = result_file(result.data, result.run.prepared, result.run.result,
                                         result.run.assessment, {.domains = &*result.run.domains});
    const StoredResult stored = stored_result(file);
    EXPECT_EQ(stored.space->slices->of_cell, result.data.space->slices->of_cell);
    EXPECT_LT((file.obsm.at("spatial") - Matrix(tissue.places.transpose())).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Tissue, NeedsMemoryForFewScalesHoweverManyCells) {
    if (test::with_sanitiser()) {
        GTEST_SKIP() << "sanitisers take memory of their own";
    }
    Dataset data = tissue_data(small_tissue());
    Analysis analysis = plan_analysis(data, {});
    prepare(data, analysis, {});
    RunOptions options{.fit = analysis.fit,
                       .space = &data.space->coordinates,
                       .tissue = tissue_run(data, analysis, 3),
                       .memory = 60e6}; // 600 scales need more
    options.fit.solver.max_sweeps = 1;
    EXPECT_LE(run_fit<float>(view_of(data.X), options).result.scales.size(), 7);
}

} // namespace
} // namespace pnmf
