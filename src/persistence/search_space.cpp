#include "persistence/search_space.hpp"

#include "cells/cell_blocks.hpp"
#include "cells/shared_work.hpp"
#include "linalg/decompositions.hpp"

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/gemm.hpp>
#include <pnmf/linalg/random.hpp>

#include <algorithm>

namespace pnmf {
namespace {

constexpr int power_steps = 2; // of the iteration for the basis: it need not be exact

DataMatrix<double> data_of(const Points& points) {
    return points.is_sparse() ? DataMatrix<double>(points.columns()) : DataMatrix<double>(points.dense());
}

/// The mean of all cells.
Vector mean_cell(const Points& points) {
    if (!points.is_sparse()) {
        return points.dense().rowwise().mean();
    }
    Vector sum = Vector::Zero(points.dimensions());
    add_cells(points.columns(), sum);
    return sum / static_cast<double>(points.count());
}

/// An orthonormal basis, p × q, of about the leading left singular space, by a subspace iteration.
Matrix leading_basis(const DataMatrix<double>& X, Index q, std::uint64_t seed) {
    Random random = Random(seed).fork(2);
    const Matrix start = Matrix::NullaryExpr(q, X.cells(), [&] { return random.normal(); });
    Matrix Q = thin_qr(X.times_transposed(start)).Q;
    for (int step = 0; step < power_steps; ++step) {
        Q = thin_qr(X.times_transposed(X.transposed_times(Q))).Q;
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

} // namespace

std::vector<Index> sample_of_cells(Index n, Index count, std::uint64_t seed) {
    return random_sample(n, count, Random(seed).fork(1));
}

Index search_dimension(Index features, Index cells, Index largest_dimension, Index sample) {
    return std::min({features, largest_dimension, std::max(std::min(cells, sample), Index{1})});
}

Matrix search_basis(const Points& sample, Index dimension, std::uint64_t seed) {
    return leading_basis(data_of(sample), dimension, seed).transpose();
}

void add_cells(const SparseView<double>& X, Vector& sum) {
    for (std::int64_t e = 0; e < X.start[X.cols]; ++e) {
        sum[X.row[e]] += X.value[e];
    }
}

DenseMatrix<float> projected_cells(const Points& points, const Matrix& Qt, const Vector& centre,
                                   Index panel) {
    const Index n = points.count();
    const Index q = Qt.rows();
    const bool all_features = q == Qt.cols();
    DenseMatrix<float> vectors(q + 1, n);
    over_shared_blocks(n, panel, [&](Index begin, Index end) {
        Matrix block(q, end - begin);
        project(points, Qt, begin, block);
        for (Index j = begin; j < end; ++j) {
            const auto projected = block.col(j - begin);
            const double left =
                all_features ? 0.0 : std::max(0.0, squared_norm(points, j) - projected.squaredNorm());
            vectors.col(j).head(q) = (projected - centre).cast<float>();
            vectors(q, j) = static_cast<float>(left);
        }
    });
    gather_blocks(panel, vectors);
    return vectors;
}

SearchSpace search_space(const Points& points, Index largest_dimension, Index sample, std::uint64_t seed) {
    const Index n = points.count();
    const Index p = points.dimensions();
    const Index q = search_dimension(p, n, largest_dimension, sample);
    const Matrix Qt =
        q == p ? Matrix(Matrix::Identity(p, p))
               : search_basis(points.subset(sample_of_cells(n, std::min(n, sample), seed)), q, seed);
    // Moves no distance, and leaves a float the digits that differ.
    const Vector centre = Qt * mean_cell(points);
    // Coordinates as they are cost less than sending them; a projection is shared out.
    const ProcessesScope who(q == p ? one_process() : all_processes());
    return {q, projected_cells(points, Qt, centre, usual_blocks(n).panel())};
}

} // namespace pnmf
