#include "run/tissue_types.hpp"

#include "run/state_file.hpp"

#include <pnmf/run/checkpoint.hpp>

#include <fmt/format.h>

namespace pnmf {
namespace {

/// Writes or reads each value of a resolution by `value`, each list by `list`.
template <class OneResolution, class Value, class List>
void visit_resolution(OneResolution& one, const Value& value, const List& list) {
    value(one.clusters);
    value(one.scale);
    value(one.modularity);
    value(one.stability);
    value(one.agreement);
    value(one.p_value);
    list(one.labels);
    list(one.parent);
    list(one.share);
}

} // namespace

std::string types_fingerprint(const DataView& X, const TissueRun& tissue,
                              const std::optional<Index>& clusters) {
    return fmt::format("types of cells, version 1\n{}clusters {}\n",
                       run_fingerprint(tissue.types, X, tissue.expression), clusters.value_or(0));
}

void save_types(const std::filesystem::path& path, const std::string& fingerprint, const Assessment& types) {
    StateWriter writer(&path);
    writer.list(fingerprint);
    writer.value(types.cluster_count);
    writer.value(types.resolutions.recommended);
    writer.value(static_cast<std::int64_t>(types.notices.size()));
    for (const std::string& notice : types.notices) {
        writer.list(notice);
    }
    writer.value(static_cast<std::int64_t>(types.resolutions.all.size()));
    for (const Resolution& one : types.resolutions.all) {
        visit_resolution(
            one, [&](const auto& value) { writer.value(value); },
            [&](const auto& list) { writer.list(list); });
    }
    writer.commit();
}

std::optional<Assessment> load_types(const std::filesystem::path& path, const std::string& fingerprint) {
    try {
        StateReader reader(path);
        std::string found;
        reader.list(found);
        if (found != fingerprint) {
            return std::nullopt;
        }
        Assessment types;
        types.cluster_count = reader.value<Index>();
        types.resolutions.recommended = reader.value<Index>();
        types.notices.resize(static_cast<std::size_t>(reader.count(sizeof(std::int64_t))));
        for (std::string& notice : types.notices) {
            reader.list(notice);
        }
        types.resolutions.all.resize(static_cast<std::size_t>(reader.count(sizeof(Index))));
        for (Resolution& one : types.resolutions.all) {
            visit_resolution(
                one, [&](auto& value) { value = reader.value<std::decay_t<decltype(value)>>(); },
                [&](auto& list) { reader.list(list); });
        }
        reader.finish();
        return types;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

} // namespace pnmf
