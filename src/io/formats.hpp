#pragma once

#include <pnmf/io/dataset.hpp>

#include <filesystem>

/// One reader for each format; `read_dataset` chooses among them.
///
/// Each returns X as features × cells, names of both (made up by `name_missing` when the file has none), the
/// tables it found, and a notice for each choice of its own. The choice of format and of the axis that holds
/// the cells is announced by `read_dataset`.
namespace pnmf::io {

enum class Format { h5ad, h5mu, zarr, loom, tenx_h5, tenx_folder, matrix_market, delimited, npy, mat };

/// What a file is, by its first bytes and, where those do not tell, by its ending. Looks inside gzip.
/// InputError when there is no such file, when it is empty, or when it is none of the formats.
Format recognise(const std::filesystem::path& path);

/// The name of a format as a sentence would have it: "MatrixMarket", "10x folder", …
const char* format_name(Format format);

/// The same as a word for records: "h5ad", "h5mu", "zarr", "loom", "10x-h5", "10x-folder",
/// "mtx", "text", "npy", "mat".
const char* format_key(Format format);

/// By the reader of the format.
Dataset read_as(Format format, const std::filesystem::path& path, const ReadOptions& options);

/// The axis that holds the cells when `ReadOptions::cells` is empty: rows for AnnData and .npy, columns
/// elsewhere (a table of text: `names_say_swapped`).
CellAxis default_axis(Format format);

/// Whether features have names of cells, or cells names of genes, and neither have names of their own kind.
bool names_say_swapped(const Dataset& data);

/// Whether a file of the format holds AnnData.
inline bool is_anndata(Format format) {
    return format == Format::h5ad || format == Format::h5mu || format == Format::zarr;
}
/// Whether a file of the format may hold several matrices of one shape.
inline bool has_layers(Format format) {
    return is_anndata(format) || format == Format::loom;
}

Dataset read_h5ad(const std::filesystem::path& path, const ReadOptions& options);
FileFacts facts_of_h5ad(const std::filesystem::path& path, const std::optional<std::string>& modality);
Dataset read_loom(const std::filesystem::path& path, const ReadOptions& options);
Dataset read_tenx_h5(const std::filesystem::path& path, const ReadOptions& options);
Dataset read_mat(const std::filesystem::path& path, const ReadOptions& options);
Dataset read_tenx_folder(const std::filesystem::path& path, const ReadOptions& options);
Dataset read_matrix_market(const std::filesystem::path& path, const ReadOptions& options);
Dataset read_delimited(const std::filesystem::path& path, const ReadOptions& options);
Dataset read_npy(const std::filesystem::path& path, const ReadOptions& options);

/// InputError when a sparse matrix is longer along an axis than its entries can be a reason for: names are
/// made up for all of it, and a file of some hundred bytes must not take gigabytes.
void check_extent(const std::string& where, Index rows, Index cols, std::int64_t entries);

/// InputError when there is no feature or no cell.
void check_not_empty(const std::string& where, const Dataset& data);

/// Names for what has none: "feature1", … and "cell1", …. InputError when the matrix is empty: its other axis
/// may then claim any length.
void name_missing(const std::string& where, Dataset& data);

/// Makes names unique as AnnData does: the second "A" becomes "A-1", the third "A-2", passing over names in
/// use. Returns how many were changed.
Index make_unique(std::vector<std::string>& names);

/// The one rule for names of features that occur more than once: `make_unique`, with a notice.
void tell_features_apart(Dataset& data);
/// The same for the gene symbols of a 10x file, whose ids are in a column.
void tell_symbols_apart(const std::filesystem::path& path, Dataset& data);

/// Antibodies and guides are counted on other scales than genes: where a column says the type of each
/// feature, only genes stay, as in Scanpy. The notice begins with `where`.
void keep_gene_expression(const std::string& where, Dataset& data);

/// The column of this name; null where there is none.
const TableColumn* find_column(const std::vector<TableColumn>& table, std::string_view name);
/// Replaces the column of this name, or adds it at the end.
void set_column(std::vector<TableColumn>& table, TableColumn column);

/// "a, b, c and 17 more": at most `shown` names of a list.
std::string abbreviate(const std::vector<std::string>& names, std::size_t shown = 5);

/// Keeps the features, or the cells, whose flag is set: X, names and table alike.
void keep_features(Dataset& data, const std::vector<bool>& keep);

/// Puts the values of the features that are not to be kept into `data.others`, those that vary most first,
/// as long as there are at most `most` values above zero. Nothing where each process holds some of the cells.
void set_others_aside(Dataset& data, const std::vector<bool>& keep, Index most = 6'000'000);
void set_others_aside(Dataset& data, const std::vector<std::string>& keep, Index most);
void keep_cells(Dataset& data, const std::vector<bool>& keep);

} // namespace pnmf::io
