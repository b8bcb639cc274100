#include "graphs/search_space.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/gemm.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <Eigen/QR>

#include <algorithm>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

constexpr int power_steps = 2; // of the iteration for the basis: it need not be exact

SparseMatrix<double> columns_of(const SparseView<double>& X, const std::vector<Index>& cells) {
    SparseMatrix<double> result;
    result.rows = X.rows;
    result.cols = static_cast<Index>(cells.size());
    for (const Index j : cells) {
        result.row.insert(result.row.end(), X.row.begin() + X.start[j], X.row.begin() + X.start[j + 1]);
        result.value.insert(result.value.end(), X.value.begin() + X.start[j],
                            X.value.begin() + X.start[j + 1]);
        result.start.push_back(static_cast<std::int64_t>(result.row.size()));
    }
    return result;
}

DataMatrix<double> cells_of(const Points& points, const std::vector<Index>& cells) {
    return points.is_sparse() ? DataMatrix<double>(columns_of(points.columns(), cells))
                              : DataMatrix<double>(Matrix(points.dense()(Eigen::all, cells)));
}

Matrix orthonormal(const Matrix& Y) {
    const Eigen::HouseholderQR<Matrix> qr(Y);
    return qr.householderQ() * Matrix::Identity(Y.rows(), Y.cols());
}

/// An orthonormal basis, p × q, of about the leading left singular space, by a subspace iteration.
Matrix leading_basis(const DataMatrix<double>& X, Index q, std::uint64_t seed) {
    Random random = Random(seed).fork(2);
    const Matrix start = Matrix::NullaryExpr(q, X.cells(), [&] { return random.normal(); });
    Matrix Q = orthonormal(X.times_transposed(start));
    for (int step = 0; step < power_steps; ++step) {
        Q = orthonormal(X.times_transposed(X.transposed_times(Q)));
    }
    return Q;
}

/// Qᵀx for the cells from `begin` on, one for each column of `out`; Qt is q × p.
void project(const Points& points, const Matrix& Qt, Index begin, Matrix& out) {
    if (!points.is_sparse()) {
        multiply(Qt, points.dense().middleCols(begin, out.cols()), out);
        return;
    }
    const SparseView<double> X = points.columns();
    out.setZero();
    for (Index a = 0; a < out.cols(); ++a) {
        for (auto e = X.start[begin + a]; e < X.start[begin + a + 1]; ++e) {
            out.col(a) += X.value[e] * Qt.col(X.row[e]);
        }
    }
}

double squared_norm(const Points& points, Index cell) {
    if (!points.is_sparse()) {
        return points.dense().col(cell).squaredNorm();
    }
    const SparseView<double> X = points.columns();
    return Eigen::Map<const Vector>(X.value.data() + X.start[cell], X.start[cell + 1] - X.start[cell])
        .squaredNorm();
}

/// Subtracts the mean of all columns, which moves no distance and keeps the digits of a float for what
/// differs.
void centre(Matrix& projected) {
    const Vector mean = projected.rowwise().mean();
    projected.colwise() -= mean;
}

} // namespace

std::vector<Index> sample_of_cells(Index n, Index count, std::uint64_t seed) {
    std::vector<Index> cells(static_cast<std::size_t>(n));
    std::iota(cells.begin(), cells.end(), Index{0});
    Random random = Random(seed).fork(1);
    for (Index s = 0; s < count; ++s) { // the first steps of a shuffle
        std::swap(cells[s], cells[s + random.below(n - s)]);
    }
    cells.resize(static_cast<std::size_t>(count));
    return cells;
}

SearchSpace search_space(const Points& points, Index largest_dimension, Index sample, std::uint64_t seed) {
    const Index n = points.count();
    const Index p = points.dimensions();
    const Index m = std::min(n, sample);
    const Index q = std::min({p, largest_dimension, std::max(m, Index{1})});
    const Matrix Qt =
        q == p ? Matrix(Matrix::Identity(p, p))
               : Matrix(leading_basis(cells_of(points, sample_of_cells(n, m, seed)), q, seed).transpose());
    Matrix projected(q, n);
    Vector remainder(n);
    parallel_blocks(n, 64, [&](Index begin, Index end) {
        Matrix block(q, end - begin);
        project(points, Qt, begin, block);
        projected.middleCols(begin, end - begin) = block;
        for (Index j = begin; j < end; ++j) {
            remainder[j] =
                q == p ? 0.0 : std::max(0.0, squared_norm(points, j) - block.col(j - begin).squaredNorm());
        }
    });
    centre(projected);
    SearchSpace space;
    space.dimension = q;
    space.vectors.resize(q + 1, n);
    space.vectors.topRows(q) = projected.cast<float>();
    space.vectors.row(q) = remainder.transpose().cast<float>();
    return space;
}

float approximate_squared_distance(const float* a, const float* b, Index dimension) {
    using Row = Eigen::Map<const Eigen::ArrayXf>;
    return (Row(a, dimension) - Row(b, dimension)).square().sum() + a[dimension] + b[dimension];
}

} // namespace pnmf
