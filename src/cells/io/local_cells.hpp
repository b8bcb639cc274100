#pragma once

#include "cells/processes.hpp"

#include <pnmf/io/dataset.hpp>

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

/// Data sets of which each process has some of the cells (`Dataset::local`). Names and tables are of all
/// cells, on every process. Nothing travels where a data set is whole.
namespace pnmf::io {

/// The cells whose values are held here.
inline CellRange local_cells(const Dataset& data) {
    return data.local.value_or(CellRange{0, data.cells(), data.cells()});
}

/// Those that hold the parts; one process where the data set is whole.
inline Processes& processes_of(const Dataset& data) {
    return data.local ? all_processes() : one_process();
}

/// Values for each cell, of which each process has found those of its own cells: all of them on all
/// processes.
template <class Value>
void share_cells(const Dataset& data, std::vector<Value>& of_cell) {
    if (!data.local) {
        return;
    }
    const std::vector<Index> counts = gather_one(all_processes(), data.local->count);
    const std::span<const Value> mine(of_cell.data() + data.local->first,
                                      static_cast<std::size_t>(data.local->count));
    of_cell = gather_to_all(all_processes(), mine, counts);
}

/// Counts for each gene, added up over the processes.
void add_counts(const Dataset& data, std::vector<Index>& of_gene);

/// The columns of a matrix that processes hold: each has the cells `from[rank]` and gets those of `to[rank]`,
/// which may overlap.
Matrix move_columns(const Matrix& here, const std::vector<CellRange>& from, const std::vector<CellRange>& to);
SparseMatrix<double> move_columns(SparseMatrix<double> here, const std::vector<CellRange>& from,
                                  const std::vector<CellRange>& to);

/// Gives each process the cells that sweeps will ask of it, after cells were left out.
void move_to_shares(Dataset& data);

/// Gives each process the coordinates of the cells `to[rank]`, where there is a space. Values and `local`
/// stay.
void move_space(Dataset& data, const std::vector<CellRange>& to);

/// Of a space with all cells: those of this process alone stay.
void keep_share_of_space(Dataset& data);

/// Of a whole data set: the cells of this process alone stay.
void keep_share(Dataset& data);

/// Whether any process has found entries at the place of another. Each knows only how many of its own cells.
bool entries_repeat(const Dataset& data);

/// InputError unless all processes read the same file, as far as its size, bytes at some places, and the
/// names in it can tell: nobody has seen all values.
void check_same_file(const std::filesystem::path& path, const Dataset& data);

} // namespace pnmf::io
