#pragma once

#include <pnmf/names.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pnmf {

enum class CellAxis { rows, columns };

template <>
struct EnumNames<CellAxis> {
    static constexpr auto values =
        name_table<CellAxis>({{"rows", CellAxis::rows}, {"columns", CellAxis::columns}});
};

/// One step between the values of a file and those that are factorised: its name, and what it learned from
/// the data of the fit, so that new cells can be given the same treatment. `preparation.hpp` lists the steps.
struct PreparationStep {
    std::string name;
    std::vector<std::string> names{}; ///< what it learned by name: the genes it left out
    double count = 0.0;               ///< what it learned as a number: how many it left out

    bool operator==(const PreparationStep&) const = default;
};

/// Every choice about the input of a fit: how the file was read, and what was done to its values.
///
/// It travels with the data (`Dataset::input`), is kept in results, and is applied again by whatever reads
/// the data of the fit, or new cells for it. What is not set was not chosen, or is not known.
struct InputRecord {
    std::string format{};                  ///< "h5ad", "mtx", …; empty: not known
    std::optional<CellAxis> cells{};       ///< the axis of the file that holds the cells
    std::optional<std::string> layer{};    ///< of an .h5ad file; "X" is the matrix itself
    std::optional<std::string> modality{}; ///< of a MuData file, where one was asked for
    std::optional<std::string> variable{}; ///< of a .mat file
    std::optional<std::string> batch{};    ///< where the batches of the cells came from (`add_batches`)
    std::vector<PreparationStep> steps{};  ///< in the order in which they were done
    bool known = false;                    ///< false for results of version 0.1, which kept the steps alone

    const PreparationStep* step(const std::string& name) const;
};

/// The one list of what is chosen on reading: `visit(name, field)` for each. It drives the JSON of a record
/// and the search for contradictions.
template <class Record, class Visitor>
void visit_reading(Record& record, const Visitor& visit) {
    visit("cells", record.cells);
    visit("layer", record.layer);
    visit("modality", record.modality);
    visit("variable", record.variable);
    visit("batch", record.batch);
}

/// {"format": "h5ad", "cells": "rows", "layer": "counts", "steps": [{"name": "log-unit"}]}: what is not set
/// is left out.
std::string to_json(const InputRecord& record);

/// The same back. InputError when the text is not such JSON, or names a step that this version does not know.
InputRecord input_record_from_json(const std::string& text);

} // namespace pnmf
