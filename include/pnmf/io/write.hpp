#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <span>
#include <vector>

/// Files are written whole or not at all: to a temporary file in the same folder, then renamed. A full disk
/// or a folder that cannot be written is a SystemError that names the file. Numbers are written so that
/// reading them gives the same bits. Endings .gz compress; text is delimited by commas when the name ends in
/// .csv, else by tabs.
namespace pnmf {

/// An array of any shape in C order: the last index runs fastest.
template <class Real>
void write_npy(const std::filesystem::path& path, std::span<const Real> values, std::span<const Index> shape);

/// A matrix, rows × columns as given.
template <class Real>
void write_npy(const std::filesystem::path& path, const DenseMatrix<Real>& matrix);

/// A table with a header; all columns of one length.
void write_table(const std::filesystem::path& path, const std::vector<TableColumn>& columns);

/// X with names: a header and a first column. `cells` says which axis of the file holds them.
void write_delimited(const std::filesystem::path& path, const Dataset& data,
                     CellAxis cells = CellAxis::columns);

/// X without names: coordinates when sparse, an array when dense.
void write_matrix_market(const std::filesystem::path& path, const Dataset& data,
                         CellAxis cells = CellAxis::columns);

} // namespace pnmf
