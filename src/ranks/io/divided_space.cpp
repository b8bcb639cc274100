#include "cells/io/local_cells.hpp"
#include "ranks/linalg/divided_columns.hpp"

namespace pnmf::io {

void move_space(Dataset& data, const std::vector<CellRange>& to) {
    if (data.space) {
        Matrix& here = data.space->coordinates;
        here = DividedColumns(here, *data.local, all_processes()).moved(to);
    }
}

void keep_share_of_space(Dataset& data) {
    if (data.local && data.space) {
        Matrix& all = data.space->coordinates;
        all = Matrix(all.middleCols(data.local->first, data.local->count));
    }
}

} // namespace pnmf::io

namespace pnmf {

void gather_space(Dataset& data) {
    if (data.local && data.space) {
        Matrix& here = data.space->coordinates;
        here = DividedColumns(here, *data.local, all_processes()).gathered(0);
    }
}

} // namespace pnmf
