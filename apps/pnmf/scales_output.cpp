#include "scales_output.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace pnmf::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ScalesResult& result) {
    Json json;
    json["cells"] = result.tree.cells;
    json["duplicates"] = duplicates(result.tree);
    json["metric"] = result.metric;
    json["strategy"] = result.strategy;
    json["seed"] = result.seed;
    json["available"] = result.available;
    json["largest_distance"] = result.tree.largest_distance;
    json["epsilon"] = result.scales.epsilon;
    json["multiplicity"] = result.scales.multiplicity;
    json["betti0"] = result.scales.betti0;
    json["edges"] = result.edges;
    return json;
}

std::string to_csv(const ScalesResult& result) {
    std::string text = "epsilon,multiplicity,betti0,edges\n";
    for (Index t = 0; t < result.scales.size(); ++t) {
        text += fmt::format("{},{},{},{}\n", result.scales.epsilon[t], result.scales.multiplicity[t],
                            result.scales.betti0[t], result.edges[t]);
    }
    return text;
}

std::string to_full_json(const ScalesResult& result) {
    Json json = to_json(result);
    Json diagram = Json::array();
    for (const double death : h0_diagram(result.tree).deaths) {
        diagram.push_back({0.0, death});
    }
    diagram.push_back({0.0, nullptr});
    json["diagram"] = std::move(diagram);
    Json merges = Json::array();
    for (const Merge& merge : merge_tree(result.tree)) {
        merges.push_back({merge.left, merge.right, merge.height, merge.size});
    }
    json["merge_tree"] = std::move(merges);
    return json.dump() + "\n";
}

} // namespace

std::string to_table(const ScalesResult& result) {
    std::string text = fmt::format("{} cells, {} scales ({})\n\n{:>6}  {:>16}  {:>12}  {:>10}  {:>12}\n",
                                   result.tree.cells, result.scales.size(), result.strategy, "scale",
                                   "epsilon", "multiplicity", "components", "edges");
    for (Index t = 0; t < result.scales.size(); ++t) {
        text += fmt::format("{:>6}  {:>16.10g}  {:>12}  {:>10}  {:>12}\n", t + 1, result.scales.epsilon[t],
                            result.scales.multiplicity[t], result.scales.betti0[t], result.edges[t]);
    }
    return text;
}

std::string to_json_text(const ScalesResult& result) {
    return to_json(result).dump() + "\n";
}

void check_scales_file(const std::string& file) {
    const std::string ending = std::filesystem::path(file).extension();
    require(ending == ".json" || ending == ".csv", "the output file must end in .json or .csv, got {}", file);
}

void write_scales_file(const ScalesResult& result, const std::string& file) {
    write_text(file,
               std::filesystem::path(file).extension() == ".csv" ? to_csv(result) : to_full_json(result));
}

} // namespace pnmf::cli
