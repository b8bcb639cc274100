#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// The column of the cells' table that holds their batches, once they are known.
inline constexpr const char* batch_column = "pnmf_batch";

/// Which batch each cell is of.
struct Batches {
    std::string column{};             ///< what the user called it
    std::vector<std::string> names{}; ///< in the order of the column's categories, else by name or number
    std::vector<Index> of_cell{};     ///< positions among the names
    std::vector<Index> cells() const; ///< of each batch
};

/// Takes the batches of the cells from where `read_labels` takes labels: a column of the table of cells, or a
/// text table. They become the column `batch_column`, which follows what is done to the cells, and are
/// recorded in `data.input`. Numbers are batches too. Read them before `prepare` drops cells. InputError,
/// with the columns there are, where there is no such column, and where a cell has no batch.
void add_batches(Dataset& data, const std::string& where);

/// The same from values at hand, one for each cell; `column` is what they are called.
void add_batches(Dataset& data, const std::string& column, std::vector<std::string> values);

/// The batches of the cells that are left; nothing where none were added. InputError, with the name, where
/// there is one batch alone or a batch of one cell: nothing can be balanced then.
std::optional<Batches> batches_of(const Dataset& data);

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

struct GeneSet {
    std::string name;
    std::vector<std::string> genes; ///< each once
};

/// Reads a .gmt file, plain or gzip: a set on each line, its name, a description that is not kept, and its
/// genes, with tabs between them. Empty lines are passed over. InputError names the line that is no set.
std::vector<GeneSet> read_gene_sets(const std::filesystem::path& path);

/// The positions of each set's genes among `genes`; those that are not there are left out. Letters must
/// agree as they are: human and mouse genes differ by case alone.
std::vector<std::vector<Index>> positions_of_sets(const std::vector<GeneSet>& sets,
                                                  const std::vector<std::string>& genes);

} // namespace pnmf
