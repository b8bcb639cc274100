#pragma once

#include <pnmf/io/dataset.hpp>

#include <string>

namespace pnmf {

/// The column of the cells' table that holds the slice of each cell, once it is known.
inline constexpr const char* sample_column = "pnmf_sample";

/// The entry of obsm that holds the places of cells by custom.
inline constexpr const char* usual_places = "spatial";

/// Takes the places of the cells in their tissue as `Dataset::space`: "COLUMN,COLUMN" or three columns of the
/// table of cells, or "obsm:KEY", which must have been read with the data. InputError where there are no such
/// columns, a cell has no place, there are not 2 or 3 coordinates, or all cells are at one place.
void add_places(Dataset& data, const std::string& where);

/// Which slice each cell is of, from where `read_labels` takes labels: the column `sample_column`.
void add_samples(Dataset& data, const std::string& where);
/// The same from values at hand.
void add_samples(Dataset& data, std::vector<std::string> samples);

/// Moves slices so far apart that no neighbourhood reaches from one to another: each begins ten times the
/// extent of the largest one behind the one before it, along the first coordinate. Distances within a slice
/// stay. Nothing happens where no samples were added.
void separate_samples(Dataset& data);

/// Where the cells are in their own slices, as they were given but for rounding.
Matrix places_in_slices(const Space& space);

} // namespace pnmf
