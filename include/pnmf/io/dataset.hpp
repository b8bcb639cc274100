#pragma once

#include <pnmf/linalg/pca.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/names.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
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

struct Dataset;

/// Slices of tissue whose places have been moved apart (`separate_samples`).
struct Slices {
    std::vector<std::string> names;
    std::vector<Index> of_cell; ///< position in `names`
    std::vector<double> moved;  ///< of each slice: how far, along the first coordinate
};

/// Where distances between cells come from when not from X itself: tree, scales, neighbours and graphs are
/// made there, while X is factorised.
struct Space {
    std::string name;   ///< "pca:30", or "obsm:KEY"
    Matrix coordinates; ///< a column for each cell, as X has them: on a process that holds some, of these
    /// Of `pca`: how other cells get their coordinates. None for coordinates that a file brought along.
    std::optional<PrincipalComponents> components{};
    std::optional<Slices> slices{};
    std::optional<double> unit_um{}; ///< of places: the micrometres of one unit, where they are known
    bool downwards = false; ///< of places in an image: the second coordinate counts its rows from above
};

/// What a user asks for: "none", "pca:N" or "obsm:KEY". InputError for other words.
struct SpaceChoice {
    enum class Kind { none, components, stored } kind = Kind::none;
    Index components = 0; ///< N of "pca:N"
    std::string key{};    ///< KEY of "obsm:KEY"
};
SpaceChoice space_choice(const std::string& text);

/// Where each process has the coordinates of its own cells: those of all cells on the first process, for
/// those who store them. The values stay where they are. All processes call it.
void gather_space(Dataset& data);

/// What a column of numbers was stored as, so that it is written back as such.
enum class NumberType { real, integer, boolean };

/// A column of a table about cells or features, kept as text or as numbers.
struct TableColumn {
    std::string name;
    std::variant<std::vector<std::string>, std::vector<double>> values{}; ///< missing: "" or NaN
    bool categorical = false;              ///< text that was stored as categories
    std::vector<std::string> categories{}; ///< in the file's order; may be empty
    bool ordered = false;                  ///< the order of the categories means something
    NumberType number = NumberType::real;
};

/// What a file holds beside the values that were read.
struct FileFacts {
    bool log_recorded = false;         ///< it says that X was logged (`uns["log1p"]` of Scanpy)
    std::vector<std::string> layers{}; ///< of an .h5ad file
    bool has_raw = false;              ///< an .h5ad file with `raw`
    std::vector<std::string> obsm{};   ///< entries of `obsm` of an .h5ad file
    bool has_image = false;            ///< it has an image of the tissue (`uns["spatial"]` of Scanpy)
    std::optional<double>
        unit_um{}; ///< micrometres of one unit of its places, where it has the size of spots
};

/// Genes that a choice of genes left out, those that vary most if not all: values above zero, as X has them.
struct OtherGenes {
    std::vector<std::string> names;
    SparseMatrix<float> values; ///< genes × cells
};

/// A data set in memory: X is features × cells, whatever the file's orientation; sparse input stays sparse.
struct Dataset {
    std::variant<Matrix, SparseMatrix<double>> X;
    std::vector<std::string> feature_names; ///< p; made up ("feature1", …) when the file has none
    std::vector<std::string> cell_names;    ///< n
    std::vector<TableColumn> cell_table; ///< columns of `obs` or of the file beside the matrix, n rows each
    std::vector<TableColumn> feature_table; ///< columns of `var`
    std::vector<std::string> notices;       ///< every automatic choice made while reading, a sentence each
    InputRecord input;                      ///< how it was read, and what was done to the values since
    std::optional<Space> space{};           ///< where distances come from, when not from X
    std::optional<Matrix> expression{};     ///< principal components of cells whose space has their places
    FileFacts facts{};                      ///< what else the file says about its values
    std::optional<OtherGenes> others{};     ///< for pages, which colour cells by any gene
    /// The cells whose values X and coordinates the space holds, where each process has some of them;
    /// everything else is of all cells. None: all.
    std::optional<CellRange> local{};

    Index features() const;
    Index cells() const;
    bool is_sparse() const { return std::holds_alternative<SparseMatrix<double>>(X); }
};

/// What is done to the values of a cell before all else.
enum class Normalize {
    none,
    logarithm, ///< log(1 + x)
    counts,    ///< each cell to a sum of 10,000, then log(1 + x)
};

template <>
struct EnumNames<Normalize> {
    static constexpr auto values = name_table<Normalize>(
        {{"none", Normalize::none}, {"log", Normalize::logarithm}, {"counts", Normalize::counts}});
};

enum class Transform {
    none,
    log_unit, ///< log10(1 + x), then unit ℓ2 columns
};

template <>
struct EnumNames<Transform> {
    static constexpr auto values =
        name_table<Transform>({{"none", Transform::none}, {"log-unit", Transform::log_unit}});
};

struct ReadOptions {
    std::optional<CellAxis>
        cells{}; ///< default rows for .h5ad and .npy, columns elsewhere; a table of text may tell by names
    /// .h5ad, .loom: a layer instead of X; of .h5ad "raw" is raw.X with its genes
    std::optional<std::string> layer{};
    /// .h5mu: which AnnData of a MuData file; default "rna", or the only one
    std::optional<std::string> modality{};
    std::optional<std::string> space{};    ///< .h5ad: an entry of obsm that becomes `Dataset::space`
    std::optional<std::string> variable{}; ///< .mat: which variable
    /// Of several processes each keeps the values of its own cells alone (`Dataset::local`). From
    /// .npy, 10x .h5 and .h5ad, but for one with compressed columns, no more is read.
    bool local = false;
};

/// Reads any of the formats, recognised by content and ending: .h5ad, .h5mu, .loom, 10x folder, 10x .h5,
/// .mtx[.gz], .csv/.tsv[.gz], .npy, .mat. Values are as in the file; nothing is checked beyond the format.
/// Names of genes that occur more than once get -1, -2, … added, with a notice.
Dataset read_dataset(const std::filesystem::path& path, const ReadOptions& options = {});

enum class GatherTo { everyone, first };

/// Brings the values of all cells of a data set together, on every process or on the first; the others
/// then hold none. Nothing happens where they are there.
void gather_values(Dataset& data, GatherTo to);

/// What an .h5ad file holds beside X, without reading its values; nothing for other formats.
FileFacts file_facts(const std::filesystem::path& path, const std::optional<std::string>& modality = {});

/// InputError unless values are finite and ≥ 0 and names are there and differ; it says how many are wrong and
/// names the first: "cell AAAC-1, gene CD3E".
void check_dataset(const Dataset& data);

/// Which genes are kept.
struct GeneChoice {
    std::optional<Index> most_variable{}; ///< so many that vary most (`overdispersed_part`)
    std::string column{};                 ///< those that are true in this column of the table of features
};

/// Steps are done in this order.
struct PrepareOptions {
    Index cells_min = 0; ///< genes seen in fewer cells are left out
    Index genes_min = 0; ///< cells with fewer genes seen are left out
    bool drop_empty_cells = false;
    Normalize normalize = Normalize::none;
    GeneChoice genes{};
    std::optional<Index> components{}; ///< the space becomes so many principal components of the values
    bool unit_cells = false;           ///< cells to length 1
    Transform transform = Transform::none;
};

/// Makes the data ready to factorise: makes names of genes differ, with a notice, as reading does;
/// `check_dataset`; drops empty genes with a notice, treats empty cells as `options` say, transforms. Names
/// and tables follow what is dropped. Keeps sparsity. Each step is added to `data.input`, so that
/// `preparation.hpp` can do the same to other cells.
void prepare(Dataset& data, const PrepareOptions& options);

/// Labels of the cells: `COLUMN` of the data set's own table, or `FILE` or `FILE:COLUMN`, a table of text.
///
/// The table is matched by name when its first column holds names of cells (it may list more cells than the
/// data), else by order, with one row for each cell and perhaps a header. `FILE` alone takes the only column
/// beside the names, or the one called "label". Without a header, COLUMN is a number from 1. Labels are
/// matched with the cells as they are: read them before `prepare` drops any.
std::vector<std::string> read_labels(const std::string& where, const Dataset& data);

/// The same as the last column of the table of cells, called "label" and replacing one of that name. A column
/// of categories keeps their order: a label then has the same colour wherever it is drawn.
void add_labels(Dataset& data, const std::string& where);

} // namespace pnmf
