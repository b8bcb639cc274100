#include "analysis/within.hpp"
#include "linalg/arrays_on_disk.hpp"
#include "run/plan_run.hpp"
#include "run/process_memory.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace pnmf {
namespace {

/// Where the places of the cells are to be read from; empty: they are not asked for.
std::string places_to_read(const FileFacts& facts, const AnalysisOptions& options) {
    const bool tissue = options.preset == Preset::spatial;
    if (!tissue && options.preset != Preset::automatic) {
        require(options.places.empty(), "places are for the preset spatial, not for {}",
                name_of(options.preset));
        return {};
    }
    if (!options.places.empty()) {
        return options.places;
    }
    if (std::find(facts.obsm.begin(), facts.obsm.end(), usual_places) != facts.obsm.end() &&
        (tissue || (options.space.empty() && options.batch.empty()))) {
        return fmt::format("obsm:{}", usual_places);
    }
    return tissue ? "x,y" : "";
}

/// Reads the data with the layer that holds what should be factorised.
Dataset read_layer(const std::filesystem::path& path, ReadOptions read, const FileFacts& facts,
                   const AnalysisOptions& options, std::vector<Choice>& choices) {
    const bool may_be_cells = options.preset == Preset::automatic || options.preset == Preset::cells ||
                              options.preset == Preset::spatial;
    Dataset data;
    std::optional<std::string> layer;
    if (may_be_cells && !read.layer) {
        layer = preferred_layer(facts, std::nullopt);
        if (!layer) {
            data = read_dataset(path, read);
            layer = preferred_layer(data.facts, recognise_values(data).kind);
        }
    }
    if (!layer) {
        return data.cell_names.empty() ? read_dataset(path, read) : std::move(data);
    }
    choices.push_back({*layer == "raw" ? "values are those of raw: X holds scaled values"
                                       : fmt::format("values are those of the layer '{}'", *layer),
                       "layer"});
    read.layer = layer;
    return read_dataset(path, read);
}

/// With the layer that holds what should be factorised and the space or the places that are asked for.
Dataset read_for_analysis(const std::filesystem::path& path, bool local, const AnalysisOptions& options,
                          std::vector<Choice>& choices) {
    ReadOptions read = read_options(input_choices(options));
    read.local = local;
    if (!options.space.empty()) {
        const SpaceChoice space = space_choice(options.space);
        if (space.kind == SpaceChoice::Kind::stored) {
            read.space = space.key;
        }
    }
    const FileFacts facts = file_facts(path, read.modality);
    const std::string places = places_to_read(facts, options);
    if (places.starts_with("obsm:")) {
        read.space = places.substr(5);
    }
    Dataset data = read_layer(path, read, facts, options, choices);
    if (!places.empty()) {
        add_places(data, places);
    }
    return data;
}

/// The data themselves are large arrays: what is asked about these is decided before. `choices` says so where
/// it was not asked for.
void place_arrays(const std::filesystem::path& path, const AnalysisOptions& options,
                  std::vector<Choice>& choices) {
    std::error_code error;
    const auto size = static_cast<double>(std::filesystem::file_size(path, error));
    const double free = available_bytes();
    // Values and places, by cells as they are read and in the fit by cells and by genes.
    const bool too_large = !error && free > 0.0 && 3.0 * size > free && trouble_out_of_core(size).empty();
    const bool asked = options.fit.out_of_core.value_or(false);
    if (asked && !trouble_out_of_core(0.0).empty()) {
        throw SystemError(fmt::format("arrays cannot be out of core: {}", trouble_out_of_core(0.0)));
    }
    const bool out = options.fit.out_of_core.value_or(too_large);
    set_array_folder(out ? std::filesystem::temp_directory_path() : std::filesystem::path());
    if (out && !asked) {
        choices.push_back(
            {fmt::format("arrays are out of core, in files in {}: the data are large for this memory",
                         std::filesystem::temp_directory_path().string()),
             "out-of-core"});
    }
}

} // namespace

std::optional<std::string> preferred_layer(const FileFacts& facts, std::optional<ValueKind> kind_of_X) {
    if (std::find(facts.layers.begin(), facts.layers.end(), "counts") != facts.layers.end()) {
        return "counts";
    }
    if (kind_of_X == ValueKind::scaled && facts.has_raw) {
        return "raw";
    }
    return std::nullopt;
}

InputChoices input_choices(const AnalysisOptions& options) {
    return {.cells = options.cells,
            .layer = options.layer,
            .modality = options.modality,
            .variable = options.variable,
            .transform = options.transform,
            .drop_empty_cells = options.drop_empty_cells,
            .labels = options.labels,
            .batch = options.batch.empty() ? std::nullopt : std::optional(options.batch)};
}

PlannedData read_planned(const std::filesystem::path& path, const AnalysisOptions& options, bool local) {
    std::vector<Choice> choices;
    place_arrays(path, options, choices);
    PlannedData work{.data = read_for_analysis(path, local, options, choices), .analysis = {}};
    if (!options.labels.empty()) {
        add_labels(work.data, options.labels);
    }
    if (!options.batch.empty()) {
        add_batches(work.data, options.batch);
    }
    if (!options.sample.empty()) {
        add_samples(work.data, options.sample);
    }
    if (!options.within.empty()) {
        keep_cluster(work.data, options.within);
    }
    work.analysis = plan_analysis(work.data, options);
    require(options.sample.empty() || work.analysis.preset == Preset::spatial,
            "a sample is for the preset spatial, not for {}", name_of(work.analysis.preset));
    prepare(work.data, work.analysis, options);
    work.analysis.choices.insert(work.analysis.choices.begin(), choices.begin(), choices.end());
    return work;
}

Points points_of(const Dataset& data, Metric metric) {
    return data.space ? Points(DataView(view_of(data.space->coordinates)), metric)
                      : Points(view_of(data.X), metric);
}

} // namespace pnmf
