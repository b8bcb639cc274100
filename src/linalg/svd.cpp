#include "linalg/svd.hpp"
#include "cells/linalg/over_all_cells.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/feature_gram.hpp"
#include "linalg/lanczos.hpp"
#include "linalg/parallel_copy.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace pnmf {
namespace {

/// Sides up to this are decomposed whole: a fraction of a second, and no iteration to fail.
constexpr Index whole_side = 256;
/// Sides up to this have XᵀX or XXᵀ formed: fewer operations than the hundred or more products with a vector.
constexpr Index formed_side = 512;
/// Beyond, single precision is content with what all threads do together (`from_wide_image`).
constexpr Index cells_for_threads = 16384;

/// Of all cells, on every process.
template <class Real>
Matrix dense_values(const DataMatrix<Real>& X) {
    if (X.is_sparse()) {
        return gather_cells(X, to_dense(X.columns())).template cast<double>();
    }
    return gather_cells(X, Matrix(X.dense().template cast<double>()));
}

TruncatedSvd decompose_whole(const Matrix& X, Index rank) {
    const TruncatedSvd whole = thin_svd(X);
    return {whole.U.leftCols(rank), whole.S.head(rank), whole.V.leftCols(rank)};
}

/// XᵀX·Y (cells) or XXᵀ·Y (features).
template <class Real>
Matrix normal_times(const DataMatrix<Real>& X, bool over_cells, const Matrix& Y) {
    const DenseMatrix<Real> y = Y.cast<Real>();
    if (over_cells) {
        const DenseMatrix<Real> of_features = times_transposed_of_all<Real>(X, y.transpose());
        return transposed_times_of_all(X, of_features).transpose().template cast<double>();
    }
    return normal_times_over_cells(X, y).template cast<double>();
}

/// y ↦ XᵀX·y (cells) or XXᵀ·y (features). What is small or has few entries is formed once: of dense data some
/// columns of it at a time.
template <class Real>
SymmetricProduct normal_product(const DataMatrix<Real>& X, bool over_cells) {
    const Index side = over_cells ? X.cells() : X.features();
    if (!over_cells && is_cheap_to_form(X)) {
        return [normal = feature_gram(X)](const double* in, double* out) {
            multiply_symmetric(normal, in, out);
        };
    }
    if (side > formed_side) {
        return [&X, over_cells, side](const double* in, double* out) {
            Eigen::Map<Vector>(out, side) = normal_times(X, over_cells, Eigen::Map<const Vector>(in, side));
        };
    }
    constexpr Index columns = 32;
    Matrix normal(side, side);
    for (Index begin = 0; begin < side; begin += columns) {
        const Index count = std::min(columns, side - begin);
        normal.middleCols(begin, count) =
            normal_times(X, over_cells, Matrix::Identity(side, side).middleCols(begin, count));
    }
    return [normal = std::move(normal), side](const double* in, double* out) {
        Eigen::Map<Vector>(out, side).noalias() =
            normal.selfadjointView<Eigen::Lower>() * Eigen::Map<const Vector>(in, side);
    };
}

/// Small matrices, and those of which half is asked for.
bool takes_whole(Index features, Index cells, Index rank) {
    const Index side = std::min(features, cells);
    return (side <= whole_side && features * cells <= (Index{1} << 24)) || 2 * rank >= side;
}

/// Rayleigh–Ritz for very many cells, with V the space found: B = VᵀX and BBᵀ = Z·S²·Zᵀ give
/// X ≈ (V·Z)·S·(BᵀZS⁻¹)ᵀ. It squares the condition number, so it is taken only where the singular values are
/// far above what that loses; nothing where they are not.
std::optional<TruncatedSvd> from_wide_image(const Matrix& space, const Matrix& B) {
    constexpr double enough = 1e-8; // of squares: single values are good to a part in 10⁸
    const SymmetricEigen eigen = symmetric_eigen(product_over_cells(B));
    const Vector squares = eigen.values.reverse();
    if (!(squares[squares.size() - 1] > enough * squares[0])) {
        return std::nullopt;
    }
    const Matrix Z = eigen.vectors.rowwise().reverse();
    TruncatedSvd svd{space * Z, squares.cwiseSqrt(), Matrix(B.cols(), B.rows())};
    const Matrix scaled = Z * svd.S.cwiseInverse().asDiagonal();
    constexpr Index columns = 8192;
    parallel_blocks(B.cols(), columns, [&](Index begin, Index end) {
        svd.V.middleRows(begin, end - begin).noalias() =
            B.middleCols(begin, end - begin).transpose() * scaled;
    });
    return svd;
}

} // namespace

double truncated_svd_bytes(Index features, Index cells, Index rank) {
    const auto p = static_cast<double>(features);
    const auto n = static_cast<double>(cells);
    const auto d = static_cast<double>(rank);
    const double formed = features <= most_formed_features && features < cells ? 2.0 * p * p : 0.0;
    const double numbers = takes_whole(features, cells, rank)
                               ? 4.0 * p * n
                               : (2.0 * d + 10.0) * std::min(p, n) + 2.5 * std::max(p, n) * d + formed;
    return numbers * sizeof(double);
}

template <class Real>
TruncatedSvd truncated_svd(const DataMatrix<Real>& X, Index rank, DataProducts* products,
                           std::optional<int> only) {
    const Index side = std::min(X.features(), X.cells());
    require(rank >= 1 && rank <= side, "the rank must be between 1 and min(features, cells) = {}, got {}",
            side, rank);
    if (takes_whole(X.features(), X.cells(), rank)) {
        return decompose_whole(dense_values(X), rank);
    }
    if (X.squared_norm() == 0.0) { // any vectors do, and Lanczos has nothing to start from
        return {Matrix::Identity(X.features(), rank), Vector::Zero(rank), Matrix::Identity(X.cells(), rank)};
    }
    // Rayleigh–Ritz: with V the space found, Q·R = X·V and R = P·S·Zᵀ give X ≈ (Q·P)·S·(V·Z)ᵀ.
    const bool over_cells = X.cells() <= X.features();
    const double tolerance = std::is_same_v<Real, float> ? 1e-6 : 1e-13;
    if (products != nullptr && !over_cells) {
        const SymmetricProduct elsewhere = [&](const double* in, double* out) {
            Eigen::Map<Vector>(out, side) = products->normal_times(Eigen::Map<const Vector>(in, side));
        };
        const Matrix space = leading_eigenvectors(side, elsewhere, rank, tolerance);
        if (auto svd = from_wide_image(space, products->transposed_times(space))) {
            return std::move(*svd);
        }
    }
    const Matrix space = leading_eigenvectors(side, normal_product(X, over_cells), rank, tolerance);
    const DenseMatrix<Real>& basis = space.cast<Real>(); // space itself when Real is double
    Matrix image;
    if (over_cells) {
        image = times_transposed_of_all<Real>(X, basis.transpose()).template cast<double>();
    } else {
        const DenseMatrix<Real> wide = gather_cells(X, X.transposed_times(basis), only);
        if (wide.size() == 0) { // another process has it
            return {};
        }
        if (std::is_same_v<Real, float> && X.cells() > cells_for_threads) {
            if (auto svd = from_wide_image(space, converted<double>(wide))) {
                return std::move(*svd);
            }
        }
        image = converted_transpose<double>(wide);
    }
    const ThinQr qr = thin_qr(std::move(image));
    TruncatedSvd small = thin_svd(qr.R);
    Matrix far = qr.Q * small.U;
    Matrix near = space * small.V;
    return over_cells ? TruncatedSvd{std::move(far), std::move(small.S), std::move(near)}
                      : TruncatedSvd{std::move(near), std::move(small.S), std::move(far)};
}

template TruncatedSvd truncated_svd(const DataMatrix<float>&, Index, DataProducts*, std::optional<int>);
template TruncatedSvd truncated_svd(const DataMatrix<double>&, Index, DataProducts*, std::optional<int>);

} // namespace pnmf
