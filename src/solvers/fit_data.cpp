#include "solvers/fit_data.hpp"

#include "cells/linalg/column_move.hpp"
#include "linalg/all_cells.hpp"
#include "linalg/some_columns.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

namespace pnmf {

namespace {

/// From here on dense products make a fit faster (docs/decisions/0114-filled-data.md), and a table takes less
/// memory than values and places held by features and by cells. In single precision sparse products gain
/// more.
constexpr double filled_for(Index bytes_of_number) {
    return bytes_of_number > 4 ? 0.4 : 0.5;
}

/// Of the sum of squared values: norms of products with X are of its square, and must be numbers above 0 too.
struct Range {
    double least;
    double most;
};
constexpr Range single_range{1e-30, 1e18};
constexpr Range double_range{1e-250, 1e150};

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

bool becomes_dense(const DataView& X, Index bytes_of_number, const std::optional<CellRange>& local) {
    const auto* sparse = std::get_if<SparseView<double>>(&X);
    if (sparse == nullptr) {
        return false;
    }
    const auto here = static_cast<double>(sparse->value.size());
    const Index cells = local ? local->all : sparse->cols;
    return (local ? sum_of(all_processes(), here) : here) >=
           filled_for(bytes_of_number) * static_cast<double>(sparse->rows) * static_cast<double>(cells);
}

template <class Real>
std::unique_ptr<const DataMatrix<Real>>
data_of(const DataView& X, bool keep, const std::optional<CellRange>& local, const FitOrder& order) {
    const auto made_of = [&](auto values) {
        return local ? std::make_unique<DataMatrix<Real>>(std::move(values), *local)
                     : std::make_unique<DataMatrix<Real>>(std::move(values));
    };
    std::optional<ColumnMove> move;
    if (!order.empty()) {
        move.emplace(order, local);
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
    if (becomes_dense(X, sizeof(Real), local)) {
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
    return made_of(copy_of<Real>(sparse));
}

void check_values(const DataView& X, const std::optional<CellRange>& local, Index bytes_of_number) {
    const auto* const dense = std::get_if<DenseView<double>>(&X);
    const auto* const sparse = std::get_if<SparseView<double>>(&X);
    if (sparse != nullptr) {
        check_structure(*sparse);
    }
    const Index features = dense != nullptr ? dense->rows() : sparse->rows;
    const Index here = dense != nullptr ? dense->cols() : sparse->cols;
    const Index cells = local ? local->all : here;
    require(features >= 1 && cells >= 1, "X must have at least one feature and one cell, got {} x {}",
            features, cells);
    const auto values_of = [&](Index j) {
        return dense != nullptr
                   ? std::span(dense->data() + j * features, static_cast<std::size_t>(features))
                   : sparse->value.subspan(sparse->start[j], sparse->start[j + 1] - sparse->start[j]);
    };
    const auto is_right = [](double value) { return std::isfinite(value) && value >= 0.0; };
    std::vector<double> squares(static_cast<std::size_t>(here), 0.0);
    const bool all_right = all_cells(here, [&](Index j) {
        for (const double value : values_of(j)) {
            squares[j] += value > 0.0 ? std::max(value * value, 1e-300) : 0.0; // not 0 where it is tiny
        }
        const auto values = values_of(j);
        return std::all_of(values.begin(), values.end(), is_right);
    });
    for (Index j = 0; j < here && !all_right; ++j) {
        const auto values = values_of(j);
        const auto wrong = std::find_if_not(values.begin(), values.end(), is_right);
        const Index e = wrong - values.begin();
        require(wrong == values.end(), "X must hold finite values, at least 0, got {} at feature {}, cell {}",
                wrong == values.end() ? 0.0 : *wrong,
                (dense != nullptr || wrong == values.end() ? e : sparse->row[sparse->start[j] + e]) + 1,
                (local ? local->first : 0) + j + 1);
    }
    const double sum_here = std::accumulate(squares.begin(), squares.end(), 0.0);
    const double sum = local ? sum_of(all_processes(), sum_here) : sum_here; // processes must agree
    const Range range = bytes_of_number < 8 ? single_range : double_range;
    require(
        sum == 0.0 || (sum >= range.least && sum <= range.most),
        bytes_of_number < 8 ? Remedy::same_precision : Remedy::none,
        "the values of X are too {} for a computation in {} precision: their squares add up to {:.2g}, and "
        "must to {:g} at {}. Multiply all values by one number",
        sum > range.most ? "large" : "small", bytes_of_number < 8 ? "single" : "double", sum,
        sum > range.most ? range.most : range.least, sum > range.most ? "most" : "least");
}

DataSize size_of_data(const DataView& X, Index bytes_of_number, const std::optional<CellRange>& local) {
    DataSize size;
    const auto* dense = std::get_if<DenseView<double>>(&X);
    const auto* sparse = std::get_if<SparseView<double>>(&X);
    size.features = dense != nullptr ? dense->rows() : sparse->rows;
    size.cells = local ? local->all : dense != nullptr ? dense->cols() : sparse->cols;
    size.dense = dense != nullptr || becomes_dense(X, bytes_of_number, local);
    size.nonzeros = size.features * size.cells;
    if (!size.dense) {
        const auto here = static_cast<double>(sparse->value.size());
        size.nonzeros = static_cast<std::int64_t>(local ? sum_of(all_processes(), here) : here);
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
