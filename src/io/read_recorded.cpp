#include <pnmf/io/preparation.hpp>

#include "io/formats.hpp"

#include <pnmf/error.hpp>

namespace pnmf {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& value) {
    return value;
}
template <class Enum>
std::string text_of(Enum value) {
    return std::string(name_of(value));
}

/// InputError when a choice is not what the fit did to its own data.
template <class Value>
void check_choice(const fs::path& path, const char* what, const std::optional<Value>& chosen,
                  const std::optional<Value>& recorded) {
    if (chosen && recorded && *chosen != *recorded) {
        fail("{}: the fit read its data with {} {}, but {} is asked for; leave that out, and the data are "
             "read "
             "as the fit read them",
             path.string(), what, text_of(*recorded), text_of(*chosen));
    }
}

/// InputError unless the layer of the fit is in the file; X is another matrix, and taking it would be a
/// guess.
void check_layer(const fs::path& path, io::Format format, const std::string& layer) {
    require(
        io::has_layers(format) || layer == "X",
        "{}: the fit read the layer '{}', and {} has no layers; say which values to take instead, the layer "
        "X for the matrix itself",
        path.string(), layer, io::format_name(format));
}

/// How the record reads a file of this format, where the choices say nothing.
ReadOptions options_for(const fs::path& path, const InputRecord& record, const InputChoices& choices) {
    const io::Format format = io::recognise(path);
    ReadOptions options = read_options(choices);
    if (!options.layer && record.layer) {
        check_layer(path, format, *record.layer);
        options.layer = io::has_layers(format) ? record.layer : std::nullopt;
    }
    if (record.format == io::format_key(format)) { // axes and variables of another format mean nothing here
        options.cells = options.cells ? options.cells : record.cells;
        options.variable = options.variable ? options.variable : record.variable;
        options.modality = options.modality ? options.modality : record.modality;
    }
    if (choices.space != nullptr && !choices.space->components) {
        options.space = space_choice(choices.space->name).key; // the new cells must bring theirs along
    }
    return options;
}

Dataset read_with(const fs::path& path, const ReadOptions& options, const InputChoices& choices) {
    Dataset data;
    try {
        data = read_dataset(path, options);
    } catch (const InputError& e) {
        if (choices.layer || !options.layer) {
            throw;
        }
        fail("{} (the fit read the layer '{}'; say which layer to take instead, X for the matrix itself)",
             e.what(), *options.layer);
    }
    if (!choices.labels.empty()) {
        add_labels(data, choices.labels);
    }
    return data;
}

} // namespace

ReadOptions read_options(const InputChoices& choices) {
    return {.cells = choices.cells,
            .layer = choices.layer,
            .modality = choices.modality,
            .variable = choices.variable};
}

RecordedData read_data_again(const fs::path& path, const InputRecord& record,
                             const std::vector<std::string>& features, const InputChoices& choices) {
    check_choice(path, "the layer", choices.layer, record.layer);
    if (record.format == io::format_key(io::recognise(path))) {
        check_choice(path, "cells as", choices.cells, record.cells);
        check_choice(path, "the variable", choices.variable, record.variable);
        check_choice(path, "the modality", choices.modality, record.modality);
    }
    check_choice(path, "the batches", choices.batch, record.batch);
    require(!choices.batch || record.batch, "{}: the fit knew no batches, but '{}' is asked for",
            path.string(), choices.batch.value_or(""));
    check_choice(path, "the transform", choices.transform, std::optional(transform_of(record)));
    RecordedData read{.data = read_with(path, options_for(path, record, choices), choices), .match = {}};
    read.match =
        apply_steps(read.data, record.steps,
                    {.features = features, .drop_empty_cells = true, .most_others = choices.most_others});
    require(read.match.missing.empty(),
            "{}: these are not the data of the fit: {} of its genes are missing: {}", path.string(),
            read.match.missing.size(), io::abbreviate(read.match.missing));
    return read;
}

RecordedData read_new_cells(const fs::path& path, const InputRecord& record,
                            const std::vector<std::string>& features, const InputChoices& choices) {
    InputRecord applied = record;
    if (choices.transform) {
        set_transform(applied, *choices.transform);
    }
    RecordedData read{.data = read_with(path, options_for(path, record, choices), choices), .match = {}};
    read.match = apply_steps(
        read.data, applied.steps,
        {.features = features, .drop_empty_cells = choices.drop_empty_cells, .space = choices.space});
    std::vector<std::string>& notices = read.data.notices;
    if (!read.match.missing.empty()) {
        notices.push_back(fmt::format("{} of {} genes of the fit are missing in {} and taken as zero: {}",
                                      read.match.missing.size(), features.size(), path.string(),
                                      io::abbreviate(read.match.missing)));
    }
    if (!read.match.extra.empty()) {
        notices.push_back(fmt::format("{} genes of {} are not in the fit and ignored: {}",
                                      read.match.extra.size(), path.string(),
                                      io::abbreviate(read.match.extra)));
    }
    if (!choices.transform) {
        notices.push_back(fmt::format("transform: {} (as in the fit)", words_of(record.steps)));
    }
    if (!choices.layer && record.layer && *record.layer != "X") {
        notices.push_back(fmt::format("layer: {} (as in the fit)", *record.layer));
    }
    return read;
}

} // namespace pnmf
