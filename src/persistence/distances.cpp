#include "linalg/some_columns.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/distances.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pnmf {
namespace {

/// Share of entries from which the table of distances writes sparse cells out, and the memory for a block of
/// them, a part of a core's own cache.
constexpr double least_share = 0.03;
constexpr Index block_bytes = Index{1} << 18U;

constexpr double largest_value = 1e150; // squares and their sums stay finite
/// Of the largest value: the squares of much smaller ones are 0, and cells that differ would seem the same.
constexpr double smallest_largest = 1e-140;

/// Sums run in eight lanes, feature f in lane f mod 8, added up in one fixed order: dense and sparse cells
/// then give the same bits, because an entry that is not stored would have added an exact zero.
constexpr Index lanes = 8;
using Lanes = Eigen::Array<double, lanes, 1>;

double add_up(const Lanes& sum) {
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

double squared_difference(const double* a, const double* b, Index length) {
    using Packet = Eigen::Map<const Lanes>;
    Lanes sum = Lanes::Zero();
    const Index whole = length / lanes * lanes;
    for (Index f = 0; f < whole; f += lanes) {
        const Lanes difference = Packet(a + f) - Packet(b + f);
        sum += difference * difference;
    }
    for (Index f = whole; f < length; ++f) {
        const double difference = a[f] - b[f];
        sum[f - whole] += difference * difference;
    }
    return add_up(sum);
}

double squared_difference(const SparseView<double>& X, Index i, Index j) {
    Lanes sum = Lanes::Zero();
    const auto add = [&](std::int32_t row, double difference) {
        sum[row % lanes] += difference * difference;
    };
    auto a = X.start[i];
    auto b = X.start[j];
    const auto a_end = X.start[i + 1];
    const auto b_end = X.start[j + 1];
    while (a < a_end && b < b_end) {
        const std::int32_t row_a = X.row[a];
        const std::int32_t row_b = X.row[b];
        const double value_a = row_a <= row_b ? X.value[a] : 0.0;
        const double value_b = row_b <= row_a ? X.value[b] : 0.0;
        add(std::min(row_a, row_b), value_a - value_b);
        a += row_a <= row_b ? 1 : 0;
        b += row_b <= row_a ? 1 : 0;
    }
    for (; a < a_end; ++a) {
        add(X.row[a], X.value[a]);
    }
    for (; b < b_end; ++b) {
        add(X.row[b], X.value[b]);
    }
    return add_up(sum);
}

/// Its size.
double checked_size(double value, Index row, Index col) {
    require(std::isfinite(value) && std::abs(value) <= largest_value,
            "coordinates must be finite and at most {} in size, got {} at row {}, column {}", largest_value,
            value, row + 1, col + 1);
    return std::abs(value);
}

void check_largest(double largest) {
    require(largest == 0.0 || largest >= smallest_largest,
            "coordinates must not all be smaller than {}, the largest is {}: multiply them all by the same "
            "number",
            smallest_largest, largest);
}

} // namespace

Points::Points(Matrix X, Metric metric)
    : kind_(metric == Metric::cosine ? Kind::cosine : Kind::euclidean), count_(X.cols()),
      dense_(std::move(X)) {
    check();
    scale_to_unit_length();
}

Points::Points(SparseMatrix<double> X, Metric metric)
    : kind_(metric == Metric::cosine ? Kind::cosine : Kind::euclidean), count_(X.cols), sparse_(std::move(X)),
      is_sparse_(true) {
    check();
    scale_to_unit_length();
}

Points::Points(const DataView& X, Metric metric)
    : kind_(metric == Metric::cosine ? Kind::cosine : Kind::euclidean) {
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        count_ = dense->cols();
        if (metric == Metric::cosine) {
            dense_ = *dense;
        } else {
            borrowed_dense_ = dense->data();
            borrowed_rows_ = dense->rows();
        }
    } else {
        const auto& sparse = std::get<SparseView<double>>(X);
        count_ = sparse.cols;
        is_sparse_ = true;
        if (metric == Metric::cosine) {
            sparse_ = copy_of<double>(sparse);
        } else {
            borrowed_sparse_ = sparse;
        }
    }
    check();
    scale_to_unit_length();
}

Points Points::subset(const std::vector<Index>& cells) const {
    Points some;
    some.kind_ = kind_;
    some.count_ = static_cast<Index>(cells.size());
    some.is_sparse_ = is_sparse_;
    if (kind_ == Kind::table) {
        some.dense_ = dense_(cells, cells);
    } else if (is_sparse_) {
        some.sparse_ = some_columns(columns(), cells);
    } else {
        some.dense_ = dense()(Eigen::all, cells);
    }
    return some;
}

DenseView<double> Points::dense() const {
    return borrowed_dense_ != nullptr ? DenseView<double>(borrowed_dense_, borrowed_rows_, count_)
                                      : view_of(dense_);
}

void Points::check() const {
    double largest = 0.0;
    if (is_sparse_) {
        const SparseView<double> X = columns();
        check_structure(X);
        require(count_ >= 1, "there must be at least one cell, got a matrix of {} x {}", X.rows, X.cols);
        for (Index j = 0; j < count_; ++j) {
            for (auto e = X.start[j]; e < X.start[j + 1]; ++e) {
                largest = std::max(largest, checked_size(X.value[e], X.row[e], j));
            }
        }
        check_largest(largest);
        return;
    }
    const DenseView<double> X = dense();
    require(count_ >= 1, "there must be at least one cell, got a matrix of {} x {}", X.rows(), X.cols());
    for (Index j = 0; j < count_; ++j) {
        for (Index i = 0; i < X.rows(); ++i) {
            largest = std::max(largest, checked_size(X(i, j), i, j));
        }
    }
    check_largest(largest);
}

/// Under the cosine metric alone; there the values are owned.
void Points::scale_to_unit_length() {
    if (kind_ != Kind::cosine) {
        return;
    }
    for (Index j = 0; j < count_; ++j) {
        double* const values =
            is_sparse_ ? sparse_.value.data() + sparse_.start[j] : dense_.data() + j * dense_.rows();
        const Index length = is_sparse_ ? sparse_.start[j + 1] - sparse_.start[j] : dense_.rows();
        Eigen::Map<Vector> column(values, length);
        const double largest = length > 0 ? column.cwiseAbs().maxCoeff() : 0.0;
        require(largest > 0.0,
                "the cosine distance needs a nonzero vector for each cell, but cell {} is zero everywhere",
                j + 1);
        column /= largest; // squares of very large and very small numbers leave the range
        Lanes sum = Lanes::Zero();
        for (Index e = 0; e < length; ++e) {
            const Index feature = is_sparse_ ? sparse_.row[sparse_.start[j] + e] : e;
            sum[feature % lanes] += column[e] * column[e];
        }
        column /= std::sqrt(add_up(sum));
    }
}

Points Points::from_distances(Matrix distances) {
    const Index n = distances.rows();
    require(n >= 1 && distances.cols() == n,
            "a matrix of distances must be square and not empty, got {} x {}", n, distances.cols());
    for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
            const double d = distances(i, j);
            require(std::isfinite(d) && d >= 0.0 && d <= largest_value,
                    "distances must be finite and nonnegative, got {} at row {}, column {}", d, i + 1, j + 1);
            require(i != j || d == 0.0,
                    "the distance of a cell to itself must be 0, got {} at row {}, column {}", d, i + 1,
                    j + 1);
        }
    }
    for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < j; ++i) {
            require(distances(i, j) == distances(j, i),
                    "distances must be symmetric, got {} at row {}, column {} and {} at row {}, column {}",
                    distances(i, j), i + 1, j + 1, distances(j, i), j + 1, i + 1);
        }
    }
    Points points;
    points.kind_ = Kind::table;
    points.count_ = n;
    points.dense_ = std::move(distances);
    return points;
}

double Points::squared_difference(Index i, Index j) const {
    if (is_sparse_) {
        return pnmf::squared_difference(columns(), i, j);
    }
    const double* const values = dense().data();
    const Index p = dense().rows();
    return pnmf::squared_difference(values + i * p, values + j * p, p);
}

double Points::distance_of(double squared_difference) const {
    return kind_ == Kind::cosine ? 0.5 * squared_difference : std::sqrt(squared_difference);
}

double Points::distance(Index i, Index j) const {
    return kind_ == Kind::table ? dense_(i, j) : distance_of(squared_difference(i, j));
}

void Points::distances_from(Index i, Eigen::Ref<Vector> out) const {
    for (Index j = 0; j < count_; ++j) {
        out[j] = distance(i, j);
    }
}

/// The coordinates of cells [begin, end), zeros included.
Matrix Points::written_out(Index begin, Index end) const {
    Matrix cells(dimensions(), end - begin);
    for (Index j = begin; j < end; ++j) {
        coordinates(j, cells.col(j - begin));
    }
    return cells;
}

Matrix Points::table() const {
    if (kind_ == Kind::table) {
        return dense_;
    }
    // Sparse cells with enough entries are written out, a block at a time: zeros added to a sum are cheaper
    // than finding out which entries two cells share.
    const bool write_out =
        is_sparse_ && static_cast<double>(columns().nonzeros()) >=
                          least_share * static_cast<double>(dimensions()) * static_cast<double>(count_);
    const Index block = std::clamp<Index>(block_bytes / (8 * std::max<Index>(1, dimensions())), 4, 64);
    const Index blocks = (count_ + block - 1) / block;
    Matrix result(count_, count_);
    parallel_for(blocks, [&](Index b) { // each pair once: entries (i, j) and (j, i) are written by one call
        const Index first = b * block;
        const Index last = std::min(count_, first + block);
        const Matrix columns = write_out ? written_out(first, last) : Matrix();
        for (Index begin = 0; begin < last; begin += block) {
            const Index end = std::min(last, begin + block);
            const Matrix rows = write_out ? written_out(begin, end) : Matrix();
            for (Index j = first; j < last; ++j) {
                for (Index i = begin; i < std::min(end, j); ++i) {
                    const double difference =
                        write_out ? pnmf::squared_difference(rows.col(i - begin).data(),
                                                             columns.col(j - first).data(), rows.rows())
                                  : squared_difference(i, j);
                    result(i, j) = result(j, i) = distance_of(difference);
                }
            }
        }
    });
    result.diagonal().setZero();
    return result;
}

Index Points::dimensions() const {
    if (kind_ == Kind::table) {
        return 0;
    }
    return is_sparse_ ? columns().rows : dense().rows();
}

void Points::coordinates(Index i, Eigen::Ref<Vector> out) const {
    if (!is_sparse_) {
        out = dense().col(i).head(dimensions());
        return;
    }
    const SparseView<double> X = columns();
    out.setZero();
    for (auto e = X.start[i]; e < X.start[i + 1]; ++e) {
        out[X.row[e]] = X.value[e];
    }
}

} // namespace pnmf
