#include "ranks/persistence/divided_search_space.hpp"

#include "cells/cell_blocks.hpp"
#include "cells/linalg/over_all_cells.hpp"
#include "persistence/search_space.hpp"
#include "ranks/linalg/divided_columns.hpp"

#include <algorithm>

namespace pnmf {
namespace {

/// The mean of all cells, with the bits of `search_space`.
Vector mean_of_all(const DividedPoints& points) {
    if (const auto* dense = std::get_if<DenseView<double>>(&points.mine())) {
        return DividedColumns(*dense, points.local(), points.processes()).of_rows([](const Matrix& some) {
            return Vector(view_of(some).rowwise().mean());
        });
    }
    const auto& mine = std::get<SparseView<double>>(points.mine());
    Vector sum = Vector::Zero(mine.rows);
    sum_along_cells<double>(points.processes(), std::span(sum.data(), static_cast<std::size_t>(sum.size())),
                            mine.rows, [&](Index, Index) { add_cells(mine, sum); });
    return sum / static_cast<double>(points.count());
}

/// The basis, made by the first process.
Matrix basis_of_all(const DividedPoints& points, Index dimension, Index sample, std::uint64_t seed) {
    Processes& processes = points.processes();
    std::vector<Index> cells;
    if (processes.place() == 0) {
        cells = sample_of_cells(points.count(), std::min(points.count(), sample), seed);
    }
    const std::optional<Points> some = points.fetch(cells);
    Matrix Qt(dimension, points.dimensions());
    if (some) {
        Qt = search_basis(*some, dimension, seed);
    }
    broadcast(processes, std::span(Qt.data(), static_cast<std::size_t>(Qt.size())), 0);
    return Qt;
}

} // namespace

DividedSearchSpace::DividedSearchSpace(const DividedPoints& points, Index largest_dimension, Index sample,
                                       std::uint64_t seed)
    : points_(points),
      dimension_(search_dimension(points.dimensions(), points.count(), largest_dimension, sample)),
      is_coordinates_(!points.is_sparse() && dimension_ == points.dimensions()), mean_(mean_of_all(points)) {
    const Index p = points.dimensions();
    const Matrix Qt = is_coordinates_   ? Matrix()
                      : dimension_ == p ? Matrix(Matrix::Identity(p, p))
                                        : basis_of_all(points, dimension_, sample, seed);
    mine_.resize(dimension_ + 1, points.local().count);
    if (is_coordinates_) {
        mine_.topRows(p) = (std::get<DenseView<double>>(points.mine()).colwise() - mean_).cast<float>();
        mine_.bottomRows<1>().setZero();
    } else if (const std::optional<Points> own = points.own()) {
        const ProcessesScope alone(one_process());
        mine_ = projected_cells(*own, Qt, Qt * mean_, usual_blocks(points.count()).panel());
    }
}

DenseMatrix<float> DividedSearchSpace::fetch(std::span<const Index> cells) const {
    return ColumnWishes(points_, cells).columns(view_of(mine_));
}

void DividedSearchSpace::forget_what_points_have() {
    if (is_coordinates_) {
        mine_ = {};
    }
}

DenseMatrix<float> DividedSearchSpace::fetch_beside(const ColumnWishes& wishes) const {
    return is_coordinates_ ? DenseMatrix<float>() : wishes.columns(view_of(mine_));
}

float DividedSearchSpace::put(const Points& points, const DenseMatrix<float>& beside, Index place,
                              Eigen::Ref<Eigen::VectorXf> out) const {
    if (is_coordinates_) {
        out = (points.dense().col(place) - mean_).cast<float>();
        return 0.0F;
    }
    out = beside.col(place).head(dimension_);
    return beside(dimension_, place);
}

} // namespace pnmf
