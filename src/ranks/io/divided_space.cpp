#include "cells/io/local_cells.hpp"
#include "ranks/linalg/divided_columns.hpp"

namespace pnmf::io {

void move_space(Dataset& data, const std::vector<CellRange>& to) {
    if (data.space) {
        Matrix& here = data.space->coordinates;
        here = DividedColumns(here, *data.part, communicator()).moved(to);
    }
}

void keep_share_of_space(Dataset& data) {
    if (data.part && data.space) {
        Matrix& all = data.space->coordinates;
        all = Matrix(all.middleCols(data.part->first, data.part->count));
    }
}

} // namespace pnmf::io

namespace pnmf {

void gather_space(Dataset& data) {
    if (data.part && data.space) {
        Matrix& here = data.space->coordinates;
        here = DividedColumns(here, *data.part, communicator()).gathered(0);
    }
}

} // namespace pnmf
