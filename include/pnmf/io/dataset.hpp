#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pnmf {

/// A column of a table about cells or features, kept as text or as numbers.
struct TableColumn {
    std::string name;
    std::variant<std::vector<std::string>, std::vector<double>> values;
    bool categorical = false; ///< text that was stored as categories
};

/// A data set in memory: X is features × cells, whatever the file's orientation; sparse input stays sparse.
struct Dataset {
    std::variant<Matrix, SparseMatrix<double>> X;
    std::vector<std::string> feature_names; ///< p; made up ("feature1", …) when the file has none
    std::vector<std::string> cell_names;    ///< n
    std::vector<TableColumn> cell_table; ///< columns of `obs` or of the file beside the matrix, n rows each
    std::vector<TableColumn> feature_table; ///< columns of `var`
    std::vector<std::string> notices;       ///< every automatic choice made while reading, a sentence each

    Index features() const;
    Index cells() const;
    bool is_sparse() const { return std::holds_alternative<SparseMatrix<double>>(X); }
};

enum class CellAxis { rows, columns };
enum class Transform {
    none,
    log_unit, ///< log10(1 + x), then unit ℓ2 columns
};

struct ReadOptions {
    std::optional<CellAxis> cells;       ///< default rows for .h5ad and .npy, columns elsewhere
    std::optional<std::string> layer;    ///< .h5ad: a layer instead of X
    std::optional<std::string> variable; ///< .mat: which variable
};

/// Reads any of the formats, recognised by content and ending: .h5ad, 10x folder, 10x .h5, .mtx[.gz],
/// .csv/.tsv[.gz], .npy, .mat. Values are as in the file; nothing is checked beyond the format.
Dataset read_dataset(const std::filesystem::path& path, const ReadOptions& options = {});

/// The transform a format gets when none is asked for: log_unit for .h5ad, 10x and .mtx, none elsewhere.
Transform default_transform(const std::filesystem::path& path);

struct PrepareOptions {
    Transform transform = Transform::none;
    bool drop_empty_cells = false;
};

/// Makes the data ready to factorise: checks values (finite, ≥ 0) and names (no duplicates), drops empty
/// genes with a notice, treats empty cells as `options` say, transforms. InputError names file-independent
/// places: "cell AAAC-1, gene CD3E". Keeps sparsity.
void prepare(Dataset& data, const PrepareOptions& options);

/// Labels of the cells: `COLUMN` of the data set's own table, or `FILE` or `FILE:COLUMN`, a table matched
/// by cell name when its first column holds the names, else by order; InputError on a wrong length.
std::vector<std::string> read_labels(const std::string& where, const Dataset& data);

} // namespace pnmf
