#pragma once

#include "io/hdf5_handle.hpp"

#include <pnmf/io/h5ad.hpp>

#include <set>

/// The elements that a .h5ad file is made of, each read and written by itself.
///
/// Encodings: AnnData 0.8 marks every element with `encoding-type` and `encoding-version`; 0.7 marks data
/// frames and sparse matrices only (`h5sparse_format` before that), and keeps categories apart in
/// `__categories`, found by a reference.
namespace pnmf::io {

using MatrixValues = std::variant<Matrix, SparseMatrix<double>>;

/// Rows and columns of a matrix, either kind.
std::pair<Index, Index> shape_of(const MatrixValues& values);

/// Swaps what is cells and what is features.
void swap_axes(Dataset& data);

/// A data frame: its index and its columns. Columns of a kind that TableColumn cannot hold are left out with
/// a notice.
struct DataFrame {
    std::vector<std::string> names;
    std::vector<TableColumn> columns;
};
DataFrame read_frame(const hdf5::Object& frame, std::vector<std::string>& notices);
void write_frame(hdf5::Object& parent, const std::string& name, const std::vector<std::string>& names,
                 const std::vector<TableColumn>& columns);
/// Adds columns to a data frame in the file; one of the same name is replaced.
void add_columns(hdf5::Object& frame, const std::vector<TableColumn>& columns);

/// InputError unless this is an AnnData file: it has obs and var.
void check_h5ad(const hdf5::Object& root);

/// A matrix, dense, CSR or CSC, transposed: a row of the file is a column in memory, so that dense and CSR
/// matrices are the file's bytes.
///
/// With `local` only this process's share of the rows of a CSR matrix is read, and `local` says which; it
/// stays empty for other matrices, which are read whole.
MatrixValues read_matrix_transposed(const hdf5::Object& element, std::vector<std::string>& notices,
                                    std::optional<CellRange>* local = nullptr);
void write_matrix_transposed(hdf5::Object& parent, const std::string& name, const MatrixValues& values,
                             const hdf5::Storage& storage);

/// What the arrays of a sparse matrix are called in its group.
struct CompressedNames {
    const char* data = "data";
    const char* indices = "indices";
    const char* offsets = "indptr";
};

/// What a notice of added entries says behind their number.
constexpr const char* repeated_entries_notice = "entries stand at the place of another; they were added up";

/// Compressed columns from the arrays of a sparse matrix in `group`: `cols` + 1
/// offsets, indices below `rows`. Rows are sorted, equal places added up with a notice. With `local` its
/// columns alone are read, and all offsets.
SparseMatrix<double> read_compressed(const hdf5::Object& group, Index rows, Index cols,
                                     std::vector<std::string>& notices, const CompressedNames& names = {},
                                     const std::optional<CellRange>& local = {});

/// The matrix with one row in memory for each row of the file.
Matrix read_dense(const hdf5::Object& array);
void write_dense(hdf5::Object& parent, const std::string& name, const Matrix& matrix,
                 const hdf5::Storage& storage);

/// `uns` and the like. Paths in `skip` are absolute: "/uns/pnmf/W".
AnnDataMap read_map(const hdf5::Object& group, const std::set<std::string>& skip,
                    std::vector<std::string>& notices);
void write_map(hdf5::Object& parent, const std::string& name, const AnnDataMap& map);
/// Adds entries to a map in the file; one of the same name is replaced.
void add_to_map(hdf5::Object& map, const AnnDataMap& entries);

/// Marks an element with its encoding, as AnnData 0.8 does.
void mark(hdf5::Object& element, const std::string& type, const std::string& version);

/// The attribute `encoding-type`, empty when there is none.
std::string encoding_of(const hdf5::Object& element);

} // namespace pnmf::io
