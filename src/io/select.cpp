#include "cells/io/local_cells.hpp"
#include "io/formats.hpp"

#include <pnmf/io/values.hpp>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_set>

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

template <class Real>
void keep_columns(SparseMatrix<Real>& matrix, const std::vector<bool>& keep) {
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

/// Calls `visit(feature, cell, value)` for every value above zero, cells in order.
template <class Visit>
void visit_positive(const Dataset& data, const Visit& visit) {
    const auto* sparse = std::get_if<SparseMatrix<double>>(&data.X);
    for (Index j = 0; sparse != nullptr && j < sparse->cols; ++j) {
        for (auto entry = sparse->start[j]; entry < sparse->start[j + 1]; ++entry) {
            if (sparse->value[entry] > 0.0) {
                visit(static_cast<std::size_t>(sparse->row[entry]), j, sparse->value[entry]);
            }
        }
    }
    const auto* dense = std::get_if<Matrix>(&data.X);
    for (Index j = 0; dense != nullptr && j < dense->cols(); ++j) {
        for (Index i = 0; i < dense->rows(); ++i) {
            if ((*dense)(i, j) > 0.0) {
                visit(static_cast<std::size_t>(i), j, (*dense)(i, j));
            }
        }
    }
}

/// Which features `set_others_aside` takes.
std::vector<bool> others_that_fit(const Dataset& data, const std::vector<bool>& keep, Index most) {
    std::vector<Index> above(keep.size(), 0);
    visit_positive(data, [&](std::size_t i, Index, double) { ++above[i]; });
    const Vector variance = feature_variances(data);
    std::vector<Index> order;
    for (std::size_t i = 0; i < keep.size(); ++i) {
        if (!keep[i] && above[i] > 0) {
            order.push_back(static_cast<Index>(i));
        }
    }
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return variance[a] > variance[b]; });
    std::vector<bool> taken(keep.size(), false);
    for (const Index i : order) {
        most -= above[static_cast<std::size_t>(i)];
        if (most < 0) {
            break;
        }
        taken[static_cast<std::size_t>(i)] = true;
    }
    return taken;
}

} // namespace

void set_others_aside(Dataset& data, const std::vector<bool>& keep, Index most) {
    if (data.local) {
        return;
    }
    const std::vector<bool> taken = others_that_fit(data, keep, most);
    std::vector<std::int32_t> place(keep.size(), -1);
    OtherGenes others;
    for (std::size_t i = 0; i < keep.size(); ++i) {
        if (taken[i]) {
            place[i] = static_cast<std::int32_t>(std::ssize(others.names));
            others.names.push_back(data.feature_names[i]);
        }
    }
    others.values.rows = std::ssize(others.names);
    others.values.cols = data.cells();
    others.values.start.assign(static_cast<std::size_t>(data.cells()) + 1, 0);
    visit_positive(data, [&](std::size_t i, Index j, double value) {
        if (place[i] >= 0) {
            others.values.row.push_back(place[i]);
            others.values.value.push_back(static_cast<float>(value));
            ++others.values.start[static_cast<std::size_t>(j) + 1];
        }
    });
    std::partial_sum(others.values.start.begin(), others.values.start.end(), others.values.start.begin());
    data.others = std::move(others);
}

void set_others_aside(Dataset& data, const std::vector<std::string>& keep, Index most) {
    const std::unordered_set<std::string_view> there(keep.begin(), keep.end());
    std::vector<bool> kept;
    for (const std::string& name : data.feature_names) {
        kept.push_back(there.contains(name));
    }
    set_others_aside(data, kept, most);
}

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
    if (data.others) {
        keep_columns(data.others->values, keep_here);
    }
    move_to_shares(data); // sums over cells need whole blocks of them
    keep_items(data.cell_names, keep);
    keep_table_rows(data.cell_table, keep);
}

} // namespace pnmf::io
