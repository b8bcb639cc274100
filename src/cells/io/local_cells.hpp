#pragma once

#include "cells/processes.hpp"

#include <pnmf/io/dataset.hpp>

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

/// Data sets of which each rank holds some of the cells (`Dataset::part`). Names and tables are of all cells,
/// on every rank. Nothing travels where a data set is whole.
namespace pnmf::io {

/// The cells whose values are held here.
inline CellRange held_cells(const Dataset& data) {
    return data.part.value_or(CellRange{0, data.cells(), data.cells()});
}

/// Those that hold the parts; one rank where the data set is whole.
inline Communicator& ranks_of(const Dataset& data) {
    return data.part ? communicator() : single_rank();
}

/// Values for each cell, of which each rank has found those of its own cells: all of them on all ranks.
template <class Value>
void share_cells(const Dataset& data, std::vector<Value>& of_cell) {
    if (!data.part) {
        return;
    }
    const std::vector<Index> counts = gather_one(communicator(), data.part->count);
    const std::span<const Value> mine(of_cell.data() + data.part->first,
                                      static_cast<std::size_t>(data.part->count));
    of_cell = gather_to_all(communicator(), mine, counts);
}

/// Counts for each gene, added up over the ranks.
void add_counts(const Dataset& data, std::vector<Index>& of_gene);

/// The columns of a matrix that ranks hold: each has the cells `from[rank]` and gets those of `to[rank]`,
/// which may overlap.
Matrix move_columns(const Matrix& here, const std::vector<CellRange>& from, const std::vector<CellRange>& to);
SparseMatrix<double> move_columns(SparseMatrix<double> here, const std::vector<CellRange>& from,
                                  const std::vector<CellRange>& to);

/// Gives each rank the cells that sweeps will ask of it, after cells were left out.
void move_to_shares(Dataset& data);

/// Gives each rank the coordinates of the cells `to[rank]`, where there is a space. Values and `part` stay.
void move_space(Dataset& data, const std::vector<CellRange>& to);

/// Of a space with all cells: those of this rank alone stay.
void keep_share_of_space(Dataset& data);

/// Of a whole data set: the cells of this rank alone stay.
void keep_share(Dataset& data);

/// Whether any rank has found entries at the place of another. Each knows only how many of its own cells.
bool entries_repeat(const Dataset& data);

/// InputError unless all ranks read the same file, as far as its size, bytes at some places, and the names in
/// it can tell: nobody has seen all values.
void check_same_file(const std::filesystem::path& path, const Dataset& data);

} // namespace pnmf::io
