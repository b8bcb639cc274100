#include "solvers/fit_data.hpp"

#include "linalg/all_cells.hpp"
#include "linalg/column_move.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace pnmf {

namespace {

/// From here on dense products make a fit faster (docs/decisions/0114-filled-data.md), and a table takes less
/// room than values and places held by features and by cells. In single precision sparse products gain more.
constexpr double filled_for(Index bytes_of_number) {
    return bytes_of_number > 4 ? 0.4 : 0.5;
}

template <class Real>
DenseMatrix<Real> table_of(const SparseView<double>& X) {
    DenseMatrix<Real> table = DenseMatrix<Real>::Zero(X.rows, X.cols);
    for (Index j = 0; j < X.cols; ++j) {
        for (auto e = X.start[j]; e < X.start[j + 1]; ++e) {
            table(X.row[e], j) += static_cast<Real>(X.value[e]); // one entry may come in parts
        }
    }
    return table;
}

} // namespace

bool becomes_dense(const DataView& X, Index bytes_of_number, const std::optional<CellRange>& part) {
    const auto* sparse = std::get_if<SparseView<double>>(&X);
    if (sparse == nullptr) {
        return false;
    }
    const auto here = static_cast<double>(sparse->value.size());
    const Index cells = part ? part->all : sparse->cols;
    return (part ? sum_of(communicator(), here) : here) >=
           filled_for(bytes_of_number) * static_cast<double>(sparse->rows) * static_cast<double>(cells);
}

template <class Real>
std::unique_ptr<const DataMatrix<Real>> data_of(const DataView& X, bool keep,
                                                const std::optional<CellRange>& part, const FitOrder& order) {
    const auto made_of = [&](auto values) {
        return part ? std::make_unique<DataMatrix<Real>>(std::move(values), *part)
                    : std::make_unique<DataMatrix<Real>>(std::move(values));
    };
    std::optional<ColumnMove> move;
    if (!order.empty()) {
        move.emplace(order, part);
    }
    const auto in_order = [&](DenseMatrix<Real> table) { return move ? (*move)(table) : std::move(table); };
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        if constexpr (std::is_same_v<Real, double>) {
            if (!keep && !move) {
                return made_of(*dense);
            }
        }
        return made_of(in_order(dense->cast<Real>()));
    }
    const auto& sparse = std::get<SparseView<double>>(X);
    if (becomes_dense(X, sizeof(Real), part)) {
        return made_of(in_order(table_of<Real>(sparse)));
    }
    if (move) {
        return made_of(move->operator()<Real>(sparse));
    }
    if constexpr (std::is_same_v<Real, double>) {
        if (!keep) {
            return made_of(sparse);
        }
    }
    SparseMatrix<Real> copy;
    copy.rows = sparse.rows;
    copy.cols = sparse.cols;
    copy.start.assign(sparse.start.begin(), sparse.start.end());
    copy.row.assign(sparse.row.begin(), sparse.row.end());
    copy.value.assign(sparse.value.begin(), sparse.value.end());
    return made_of(std::move(copy));
}

void check_values(const DataView& X, const std::optional<CellRange>& part) {
    const Index first = part ? part->first : 0;
    const auto is_right = [](double value) { return std::isfinite(value) && value >= 0.0; };
    const auto check = [&](double value, Index i, Index j) {
        require(is_right(value), "X must hold finite values, at least 0, got {} at feature {}, cell {}",
                value, i + 1, first + j + 1);
    };
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        const Index cells = part ? part->all : dense->cols();
        require(dense->rows() >= 1 && cells >= 1,
                "X must have at least one feature and one cell, got {} x {}", dense->rows(), cells);
        const auto column_is_right = [&](Index j) {
            const auto column = dense->col(j);
            return std::all_of(column.begin(), column.end(), is_right);
        };
        if (all_cells(dense->cols(), column_is_right)) {
            return;
        }
        for (Index j = 0; j < dense->cols(); ++j) {
            for (Index i = 0; i < dense->rows(); ++i) {
                check((*dense)(i, j), i, j);
            }
        }
        return;
    }
    const auto& sparse = std::get<SparseView<double>>(X);
    check_structure(sparse);
    const Index cells = part ? part->all : sparse.cols;
    require(sparse.rows >= 1 && cells >= 1, "X must have at least one feature and one cell, got {} x {}",
            sparse.rows, cells);
    const auto entries_are_right = [&](Index j) {
        return std::all_of(sparse.value.begin() + sparse.start[j], sparse.value.begin() + sparse.start[j + 1],
                           is_right);
    };
    if (all_cells(sparse.cols, entries_are_right)) {
        return;
    }
    for (Index j = 0; j < sparse.cols; ++j) {
        for (auto e = sparse.start[j]; e < sparse.start[j + 1]; ++e) {
            check(sparse.value[e], sparse.row[e], j);
        }
    }
}

DataSize size_of_data(const DataView& X, Index bytes_of_number, const std::optional<CellRange>& part) {
    DataSize size;
    const auto* dense = std::get_if<DenseView<double>>(&X);
    const auto* sparse = std::get_if<SparseView<double>>(&X);
    size.features = dense != nullptr ? dense->rows() : sparse->rows;
    size.cells = part ? part->all : dense != nullptr ? dense->cols() : sparse->cols;
    size.dense = dense != nullptr || becomes_dense(X, bytes_of_number, part);
    size.nonzeros = size.features * size.cells;
    if (!size.dense) {
        const auto here = static_cast<double>(sparse->value.size());
        size.nonzeros = static_cast<std::int64_t>(part ? sum_of(communicator(), here) : here);
    }
    return size;
}

Index chosen_rank(std::optional<Index> asked, Index features, Index cells,
                  std::vector<std::string>& notices) {
    const Index n = cells;
    const Index most = std::min(features, n);
    if (asked) {
        require(*asked >= 1 && *asked <= most,
                "the rank must be between 1 and min(features, cells) = {}, got {}", most, *asked);
        return *asked;
    }
    const auto root = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(n))));
    const Index rank = std::min(root, most);
    notices.push_back(fmt::format("rank {}: the square root of {} cells, rounded up{}", rank, n,
                                  rank < root ? ", but at most min(features, cells)" : ""));
    return rank;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template std::unique_ptr<const DataMatrix<Real>> data_of<Real>(                                          \
        const DataView&, bool, const std::optional<CellRange>&, const FitOrder&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
