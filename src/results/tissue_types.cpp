#include "results/tissue_types.hpp"

#include <pnmf/io/write.hpp>
#include <pnmf/results/result_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <limits>

namespace pnmf {
namespace {

using TypesJson = nlohmann::json;

TypesJson json_of_resolution(const Resolution& one) {
    return {{"clusters", one.clusters},     {"scale", one.scale},
            {"modularity", one.modularity}, {"stability", one.stability},
            {"agreement", one.agreement},   {"labels", one.labels},
            {"parent", one.parent},         {"share", one.share},
            {"p_value", one.p_value}}; // JSON has null for NaN
}

double number_or_nan(const TypesJson& value) {
    return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Resolution resolution_of(const TypesJson& json) {
    Resolution one;
    json.at("clusters").get_to(one.clusters);
    json.at("scale").get_to(one.scale);
    one.modularity = number_or_nan(json.at("modularity"));
    one.stability = number_or_nan(json.at("stability"));
    one.agreement = number_or_nan(json.at("agreement"));
    json.at("labels").get_to(one.labels);
    json.at("parent").get_to(one.parent);
    json.at("share").get_to(one.share);
    one.p_value = number_or_nan(json.at("p_value"));
    return one;
}

/// A file that was damaged may still be JSON: each cell has one of the clusters.
bool is_whole(const Assessment& types, Index cells) {
    const auto& all = types.resolutions.all;
    return types.resolutions.recommended >= 0 && types.resolutions.recommended < std::ssize(all) &&
           std::all_of(all.begin(), all.end(), [&](const Resolution& one) {
               return std::ssize(one.labels) == cells &&
                      std::all_of(one.labels.begin(), one.labels.end(),
                                  [&](Index label) { return label >= 0 && label < one.clusters; });
           });
}

} // namespace

std::string types_fingerprint(const DataView& X, const TissueRun& tissue,
                              const std::optional<Index>& clusters) {
    return fmt::format("{}clusters {}\n", run_fingerprint(tissue.types, X, tissue.expression),
                       clusters.value_or(0));
}

void save_types(const std::filesystem::path& path, const std::string& fingerprint, const Assessment& types) {
    TypesJson json{{"fingerprint", fingerprint},
                   {"clusters", types.cluster_count},
                   {"recommended", types.resolutions.recommended},
                   {"notices", types.notices},
                   {"resolutions", TypesJson::array()}};
    for (const Resolution& one : types.resolutions.all) {
        json["resolutions"].push_back(json_of_resolution(one));
    }
    write_text(path, json.dump(-1, ' ', false, TypesJson::error_handler_t::replace));
}

std::optional<Assessment> load_types(const std::filesystem::path& path, const std::string& fingerprint,
                                     Index cells) {
    std::ifstream file(path);
    const TypesJson json = file ? TypesJson::parse(file, nullptr, false) : TypesJson();
    try {
        if (!json.is_object() || json.at("fingerprint") != fingerprint) {
            return std::nullopt;
        }
        Assessment types;
        json.at("clusters").get_to(types.cluster_count);
        json.at("recommended").get_to(types.resolutions.recommended);
        json.at("notices").get_to(types.notices);
        for (const TypesJson& one : json.at("resolutions")) {
            types.resolutions.all.push_back(resolution_of(one));
        }
        return is_whole(types, cells) ? std::optional(std::move(types)) : std::nullopt;
    } catch (const TypesJson::exception&) {
        return std::nullopt;
    }
}

} // namespace pnmf
