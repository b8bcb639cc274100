#include "cells/linalg/over_all_cells.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/feature_gram.hpp"
#include "linalg/lanczos.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

/// Features up to this are decomposed whole: a fraction of a second, and no iteration to fail.
constexpr Index whole_features = 256;
constexpr double eigen_tolerance = 1e-10; ///< of eigenvalues
constexpr Index scatter_columns_at_once = 64;
/// Below this share of the largest variance a direction is rounding.
constexpr double smallest_share = 1e-12;

/// (X − μ1ᵀ)(X − μ1ᵀ)ᵀ·Y = X(XᵀY) − n·μ(μᵀY), p × m for Y p × m.
Matrix scatter_times(const DataMatrix<double>& X, const Vector& mean, const Matrix& Y,
                     DataProducts* products) {
    const auto cells = static_cast<double>(X.cells());
    const Matrix normal = products != nullptr ? products->normal_times(Y) : normal_times_over_cells(X, Y);
    return normal - cells * mean * (mean.transpose() * Y);
}

/// Vᵀ(X − μ1ᵀ), of the cells that X holds.
Matrix coordinates_of(const DataMatrix<double>& X, const PrincipalComponents& components,
                      DataProducts* products) {
    Matrix result = products != nullptr ? products->transposed_times(components.directions)
                                        : X.transposed_times(components.directions);
    result.colwise() -= components.directions.transpose() * components.mean;
    return result;
}

/// ‖·‖² of each row, over all cells.
Vector squared_norms_of_rows(const DataMatrix<double>& X, const Matrix& coordinates) {
    return reduce_rows(X.processes(), coordinates, X.local(),
                       [](const Matrix& rows) { return Vector(rows.rowwise().squaredNorm()); });
}

/// Eigenvectors of the scatter matrix, p × count, largest first.
Matrix leading_directions(const DataMatrix<double>& X, const Vector& mean, Index count,
                          DataProducts* products) {
    const Index p = X.features();
    if (count == X.cells() - 1 && count < p) { // all there are: iteration would have nothing left to find
        const auto own = X.is_sparse() ? to_dense(X.columns()) : Matrix(X.dense());
        Matrix centred = gather_cells(X, own);
        centred.colwise() -= mean;
        return thin_svd(centred).U.leftCols(count);
    }
    if (p <= whole_features || 2 * count >= p) {
        const Matrix scatter = scatter_times(X, mean, Matrix::Identity(p, p), products);
        const Matrix symmetric = 0.5 * (scatter + scatter.transpose());
        return symmetric_eigen(symmetric).vectors.rightCols(count).rowwise().reverse();
    }
    if (products == nullptr && is_cheap_to_form(X)) {
        Matrix scatter = feature_gram(X);
        parallel_blocks(p, scatter_columns_at_once, [&](Index begin, Index end) {
            scatter.middleCols(begin, end - begin) -=
                static_cast<double>(X.cells()) * mean * mean.segment(begin, end - begin).transpose();
        });
        const SymmetricProduct formed = [&](const double* in, double* out) {
            multiply_symmetric(scatter, in, out);
        };
        return leading_eigenvectors(p, formed, count, eigen_tolerance);
    }
    const SymmetricProduct apply = [&](const double* in, double* out) {
        Eigen::Map<Vector>(out, p) = scatter_times(X, mean, Eigen::Map<const Vector>(in, p), products);
    };
    return leading_eigenvectors(p, apply, count, eigen_tolerance);
}

void fix_signs(Matrix& directions) {
    for (Index k = 0; k < directions.cols(); ++k) {
        Index largest = 0;
        directions.col(k).cwiseAbs().maxCoeff(&largest);
        if (directions(largest, k) < 0.0) {
            directions.col(k) *= -1.0;
        }
    }
}

} // namespace

Matrix PrincipalComponents::coordinates(const DataMatrix<double>& X) const {
    require(X.features() == mean.size(), "the cells must have {} features, got {}", mean.size(),
            X.features());
    return coordinates_of(X, *this, nullptr);
}

PrincipalComponents principal_components(const DataMatrix<double>& X, Index count) {
    return component_space(X, count).components;
}

ComponentSpace component_space(const DataMatrix<double>& X, Index count, DataProducts* products) {
    require(count >= 1, "there must be at least 1 principal component, got {}", count);
    require(X.cells() >= 2, "principal components need at least 2 cells, got {}", X.cells());
    ComponentSpace space;
    PrincipalComponents& result = space.components;
    result.mean = times_transposed_over_cells<double>(X, Matrix::Constant(1, X.local().count, 1.0)) /
                  static_cast<double>(X.cells());
    count = std::min({count, X.features(), X.cells() - 1});
    result.directions = leading_directions(X, result.mean, count, products);
    fix_signs(result.directions);
    space.coordinates = coordinates_of(X, result, products);
    result.variance = squared_norms_of_rows(X, space.coordinates) / static_cast<double>(X.cells() - 1);
    const double largest = result.variance(0);
    const double total = X.squared_norm() / static_cast<double>(X.cells());
    require(largest > smallest_share * total,
            "all cells are equal: there is no direction in which they differ");
    Index kept = 1;
    while (kept < count && result.variance(kept) > smallest_share * largest) {
        ++kept;
    }
    if (kept < count) {
        result.directions.conservativeResize(Eigen::NoChange, kept);
        result.variance.conservativeResize(kept);
        space.coordinates = coordinates_of(X, result, products);
    }
    return space;
}

} // namespace pnmf
