#include <pnmf/diagnostics/check.hpp>
#include <pnmf/error.hpp>
#include <pnmf/report/report.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/score_result.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/results/transform_cells.hpp>
#include <pnmf/run/run.hpp>

#include "support/clouds.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

/// A result with an entry that is missing or of another kind is used as it is or refused by name.
namespace pnmf {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Index cells = 14;

/// A result that has every kind of entry: a space, batches, programs, few scales that stand for all.
AnnDataFile whole_result() {
    Dataset data;
    data.X = test::uniform_cloud(6, cells, 3);
    std::vector<std::string> lanes;
    for (Index i = 0; i < 6; ++i) {
        data.feature_names.push_back("gene" + std::to_string(i));
    }
    for (Index j = 0; j < cells; ++j) {
        data.cell_names.push_back("cell" + std::to_string(j));
        lanes.push_back(j % 2 == 0 ? "a" : "b");
    }
    data.input = {.format = "text", .cells = CellAxis::columns, .known = true};
    data.space = Space{.name = "obsm:X_own", .coordinates = test::uniform_cloud(2, cells, 4)};
    add_batches(data, "lane", lanes);
    FitOptions options;
    options.rank = 3;
    options.solver.max_sweeps = 5;
    options.scale_error = 0.3;
    options.filtration.neighbors = 3;
    options.filtration.batch = batches_of(data)->of_cell;
    const auto run =
        run_fit<double>(view_of(data.X), {.fit = options, .space = &data.space->coordinates, .clusters = 3});
    AnnDataFile file = result_file(data, run.prepared, run.result, run.assessment, {.save_basis = true});
    auto& uns = std::get<AnnDataMap>(file.uns.at("pnmf").value);
    for (const char* name : {"H", "W"}) { // as arrays, which can be copied and damaged
        const auto slabs = std::get<SlabArray>(uns.at(name).value);
        std::vector<double> values;
        for (Index t = 0; t < slabs.slabs; ++t) {
            const Matrix slab = slabs.slab(t).transpose();
            values.insert(values.end(), slab.data(), slab.data() + slab.size());
        }
        uns[name] = NumericArray{.shape = {slabs.slabs, slabs.rows, slabs.cols}, .values = values};
    }
    return file;
}

/// Everything that reads a stored result.
void use_all(AnnDataFile file) {
    const StoredResult result = stored_result(std::move(file), "out/result.h5ad");
    result.clusters(result.recommended);
    result.recommended_basis();
    stored_programs(result);
    batch_scores(result);
    check_result(result);
    find_paths(result, {.root = "cell0", .groups = "pnmf_clusters"});
    Dataset fresh;
    fresh.X = test::uniform_cloud(std::ssize(result.features), 2, 5);
    fresh.space = Space{.name = "obsm:X_own", .coordinates = test::uniform_cloud(2, 2, 6)};
    Dataset of_fit;
    of_fit.X = test::uniform_cloud(std::ssize(result.features), cells, 3);
    transform_cells(result, fresh, {0, result.scales - 1}, &of_fit);
    score_result(result, {}, {.clusters = 2, .starts = 1, .seeds = 1});
    report_html({{.result = &result}});
}

std::vector<std::string> paths_of(const AnnDataMap& map, const std::string& above = "") {
    std::vector<std::string> paths;
    for (const auto& [name, value] : map) {
        paths.push_back(above + name);
        if (const auto* inner = std::get_if<AnnDataMap>(&value.value)) {
            const auto below = paths_of(*inner, above + name + "/");
            paths.insert(paths.end(), below.begin(), below.end());
        }
    }
    return paths;
}

/// The same array with another number everywhere, or one axis shorter.
AnnDataValue filled(const AnnDataValue& old, double number, Index shorter = 0) {
    const auto* array = std::get_if<NumericArray>(&old.value);
    std::vector<Index> shape = array == nullptr ? std::vector<Index>{3} : array->shape;
    shape.back() = std::max<Index>(0, shape.back() - shorter);
    Index size = 1;
    for (const Index length : shape) {
        size *= length;
    }
    return NumericArray{.shape = shape,
                        .values = std::vector<double>(static_cast<std::size_t>(size), number)};
}

TEST(DamagedResult, IsUsedAsItIsOrRefusedByFileAndEntry) {
    const AnnDataFile whole = whole_result();
    ASSERT_NO_THROW(use_all(whole));
    const std::vector<std::function<void(AnnDataMap&, const std::string&)>> damages{
        [](AnnDataMap& map, const std::string& name) { map.erase(name); },
        [](AnnDataMap& map, const std::string& name) { map[name] = 1.5; },
        [](AnnDataMap& map, const std::string& name) { map[name] = -7; },
        [](AnnDataMap& map, const std::string& name) { map[name] = "{\"rank\": \"x\", \"steps\": 3}"; },
        [](AnnDataMap& map, const std::string& name) { map[name] = "{\"rank\": "; },
        [](AnnDataMap& map, const std::string& name) {
            map[name] = std::vector<std::string>{"a", "b"};
        },
        [](AnnDataMap& map, const std::string& name) { map[name] = AnnDataMap{}; },
        [](AnnDataMap& map, const std::string& name) { map[name] = filled(map[name], 1.0, 1); },
        [](AnnDataMap& map, const std::string& name) { map[name] = filled(map[name], -3.0); },
        [](AnnDataMap& map, const std::string& name) { map[name] = filled(map[name], 1e300); },
        [](AnnDataMap& map, const std::string& name) { map[name] = filled(map[name], std::nan("")); },
        [](AnnDataMap& map, const std::string& name) {
            map[name] = NumericArray{.shape = {0}, .values = std::vector<double>{}};
        }};
    for (const std::string& path : paths_of(std::get<AnnDataMap>(whole.uns.at("pnmf").value))) {
        for (std::size_t kind = 0; kind < damages.size(); ++kind) {
            AnnDataFile file = whole;
            auto* map = &std::get<AnnDataMap>(file.uns.at("pnmf").value);
            const std::size_t slash = path.find('/');
            if (slash != std::string::npos) {
                map = &std::get<AnnDataMap>(map->at(path.substr(0, slash)).value);
            }
            damages[kind](*map, path.substr(slash == std::string::npos ? 0 : slash + 1));
            try {
                use_all(std::move(file));
            } catch (const InputError& e) {
                EXPECT_THAT(e.what(), AllOf(HasSubstr("out/result.h5ad"), Not(HasSubstr("json"))))
                    << path << ", damage " << kind;
            } catch (const std::exception& e) {
                ADD_FAILURE() << path << ", damage " << kind << ": " << e.what();
            }
        }
    }
}

TEST(DamagedResult, WithoutAThresholdForEachScaleSaysWhichEntryIsWrong) {
    for (const AnnDataValue& value : {AnnDataValue(AnnDataMap{}), AnnDataValue(0.5)}) {
        AnnDataFile file = whole_result();
        std::get<AnnDataMap>(file.uns.at("pnmf").value)["epsilon"] = value;
        try {
            stored_result(std::move(file), "out/result.h5ad");
            ADD_FAILURE() << "nothing was wrong";
        } catch (const InputError& e) {
            EXPECT_THAT(e.what(), HasSubstr("out/result.h5ad: uns/pnmf/epsilon must hold"));
        }
    }
}

} // namespace
} // namespace pnmf
