#include "cells/io/local_cells.hpp"
#include "io/formats.hpp"

#include <algorithm>

namespace pnmf::io {

namespace {

template <class Item>
void keep_items(std::vector<Item>& items, const std::vector<bool>& keep) {
    if (items.empty()) {
        return;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (keep[i]) {
            if (kept != i) {
                items[kept] = std::move(items[i]);
            }
            ++kept;
        }
    }
    items.resize(kept);
}

void keep_table_rows(std::vector<TableColumn>& table, const std::vector<bool>& keep) {
    for (TableColumn& column : table) {
        std::visit([&](auto& values) { keep_items(values, keep); }, column.values);
    }
}

std::vector<Index> positions(const std::vector<bool>& keep) {
    std::vector<Index> kept;
    for (std::size_t i = 0; i < keep.size(); ++i) {
        if (keep[i]) {
            kept.push_back(static_cast<Index>(i));
        }
    }
    return kept;
}

void keep_rows(SparseMatrix<double>& matrix, const std::vector<bool>& keep) {
    std::vector<std::int32_t> place(keep.size(), -1);
    std::int32_t rows = 0;
    for (std::size_t i = 0; i < keep.size(); ++i) {
        if (keep[i]) {
            place[i] = rows++;
        }
    }
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    for (Index j = 0; j < matrix.cols; ++j) {
        const std::int64_t end = matrix.start[j + 1];
        for (std::int64_t e = begin; e < end; ++e) {
            if (const std::int32_t row = place[matrix.row[e]]; row >= 0) {
                matrix.row[kept] = row;
                matrix.value[kept] = matrix.value[e];
                ++kept;
            }
        }
        begin = end;
        matrix.start[j + 1] = kept;
    }
    matrix.rows = rows;
    matrix.row.resize(kept);
    matrix.value.resize(kept);
}

void keep_columns(SparseMatrix<double>& matrix, const std::vector<bool>& keep) {
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    Index cols = 0;
    for (Index j = 0; j < matrix.cols; ++j) {
        const std::int64_t end = matrix.start[j + 1];
        if (keep[j]) {
            for (std::int64_t e = begin; e < end; ++e, ++kept) {
                matrix.row[kept] = matrix.row[e];
                matrix.value[kept] = matrix.value[e];
            }
            matrix.start[++cols] = kept;
        }
        begin = end;
    }
    matrix.cols = cols;
    matrix.start.resize(cols + 1);
    matrix.row.resize(kept);
    matrix.value.resize(kept);
}

} // namespace

void keep_features(Dataset& data, const std::vector<bool>& keep) {
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        *dense = Matrix((*dense)(positions(keep), Eigen::all));
    } else {
        keep_rows(std::get<SparseMatrix<double>>(data.X), keep);
    }
    keep_items(data.feature_names, keep);
    keep_table_rows(data.feature_table, keep);
}

void keep_cells(Dataset& data, const std::vector<bool>& keep) {
    const CellRange held = local_cells(data);
    const std::vector<bool> keep_here(keep.begin() + held.first, keep.begin() + held.past());
    if (data.expression) {
        data.expression = Matrix((*data.expression)(Eigen::all, positions(keep_here)));
    }
    if (data.space) {
        data.space->coordinates = Matrix(data.space->coordinates(Eigen::all, positions(keep_here)));
    }
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        *dense = Matrix((*dense)(Eigen::all, positions(keep_here)));
    } else {
        keep_columns(std::get<SparseMatrix<double>>(data.X), keep_here);
    }
    if (data.local) {
        const auto kept = [&](Index first, Index past) {
            return std::count(keep.begin() + first, keep.begin() + past, true);
        };
        data.local = CellRange{kept(0, held.first), kept(held.first, held.past()), kept(0, held.all)};
    }
    move_to_shares(data); // sums over cells need whole blocks of them
    keep_items(data.cell_names, keep);
    keep_table_rows(data.cell_table, keep);
}

} // namespace pnmf::io
