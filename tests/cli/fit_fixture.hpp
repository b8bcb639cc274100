#pragma once

#include "support/paths.hpp"

#include <pnmf/io/h5ad.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

/// What the tests of `pnmf fit` share: small data, runs of the program, and looks into its results.
namespace pnmf::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

inline std::string read_file(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

class Fit : public ::testing::Test {
  protected:
    /// Four circles of `points` cells, with their labels, as .h5ad.
    std::string circles(Index points = 5, Index noise = 10) const {
        const Simulated simulated =
            simulate_circles({.points = points, .noise_dimensions = noise, .seed = 7});
        Dataset data;
        data.X = simulated.X;
        for (Index i = 0; i < data.features(); ++i) {
            data.feature_names.push_back("g" + std::to_string(i));
        }
        std::vector<std::string> labels;
        for (Index j = 0; j < data.cells(); ++j) {
            data.cell_names.push_back("c" + std::to_string(j));
            labels.push_back("ring" + std::to_string(simulated.labels[j]));
        }
        data.cell_table.push_back({.name = "ring", .values = labels, .categorical = true});
        const fs::path path = folder_ / ("circles" + std::to_string(points) + ".h5ad");
        write_h5ad(path, data);
        return "'" + path.string() + "' --transform none";
    }
    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        return (folder_ / name).string();
    }
    fs::path out(const std::string& name = "out") const { return folder_ / name; }

    /// May replace what an earlier run of the same test left.
    static std::string command(const std::string& arguments, const fs::path& folder) {
        const bool goes_on = arguments.find("--resume") != std::string::npos;
        return "'" + program().string() + "' fit --preset paper " + arguments +
               (goes_on ? "" : " --overwrite") + " -o '" + folder.string() + "'";
    }
    static CommandResult fit(const std::string& arguments, const fs::path& folder) {
        return run_command(command(arguments, folder));
    }
    static CommandResult expect_done(const std::string& arguments, const fs::path& folder) {
        CommandResult result = fit(arguments, folder);
        EXPECT_EQ(result.exit_code, 0) << arguments << "\n" << result.err;
        EXPECT_TRUE(fs::exists(folder / "result.h5ad")) << arguments;
        return result;
    }

    static AnnDataFile result(const fs::path& folder) { return read_anndata(folder / "result.h5ad"); }
    static const NumericArray& array(const AnnDataFile& file, const std::string& name) {
        return std::get<NumericArray>(find(file.uns, "pnmf/" + name)->value);
    }
    static std::string text(const AnnDataFile& file, const std::string& name) {
        return std::get<std::string>(find(file.uns, "pnmf/" + name)->value);
    }
    /// All numbers of two results are the same bits.
    static void expect_same_numbers(const AnnDataFile& a, const AnnDataFile& b, const std::string& what) {
        EXPECT_EQ(a.obsm.at("X_pnmf"), b.obsm.at("X_pnmf")) << what;
        for (const char* name :
             {"H", "objective", "objective_fit", "objective_graph", "objective_smoothness",
              "objective_anchor", "kkt", "kkt_H", "kkt_W", "effective_rank", "epsilon", "betti0"}) {
            EXPECT_TRUE(array(a, name) == array(b, name)) << what << ": " << name;
        }
    }
    /// The names in a folder; a temporary file left behind would be among them.
    static std::set<std::string> names_in(const fs::path& folder) {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder)) {
            names.insert(entry.path().filename().string());
        }
        return names;
    }

    TemporaryFolder folder_;
};

} // namespace pnmf::test
