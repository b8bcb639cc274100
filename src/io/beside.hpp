#pragma once

#include <pnmf/io/dataset.hpp>

#include <filesystem>

/// Names and tables that stand in files beside a matrix.
namespace pnmf::io {

/// A MatrixMarket file without what stands beside it; names are left empty.
Dataset read_matrix_market_alone(const std::filesystem::path& path, const ReadOptions& options);

/// Takes names of features from `features.tsv` or `genes.tsv` and of cells from `barcodes.tsv` or `cells.tsv`
/// in the folder of the matrix, gzip or not, each with a notice. "PREFIX_matrix.mtx" looks for
/// "PREFIX_features.tsv" and so on first. Absent files are no error; a file of a length that fits neither
/// axis is left alone with a notice, one that fits the other axis is an InputError.
///
/// One row more than the matrix has: the first is a header, the first column holds the names, the others
/// become the table. No header and two columns or more: the 10x layout (id, symbol, type); symbols become the
/// names, made unique as AnnData does, and ids go to the table.
void attach_sidecar_tables(Dataset& data, const std::filesystem::path& matrix);

} // namespace pnmf::io
