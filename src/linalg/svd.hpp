#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/types.hpp>

#include <optional>

namespace pnmf {

/// The leading singular triplets: X ≈ U·diag(S)·Vᵀ, U p × k, S descending, V n × k.
struct TruncatedSvd {
    Matrix U;
    Vector S;
    Matrix V;
};

/// The `rank` leading triplets of X, to working precision, without densifying sparse X; 1 ≤ rank ≤ min(p, n).
///
/// Small matrices are decomposed whole. Larger ones: Lanczos (Spectra) on XᵀX or XXᵀ, whichever is smaller,
/// then one Rayleigh–Ritz step on X itself, which undoes the squaring of the condition number. Signs are as
/// they come. Columns for zero singular values are zero in one of U, V. Where X has fewer features than
/// cells, `products` may make the products with it. `only`: of processes that hold some cells each, the one
/// that needs the triplets; what the others get is unspecified.
template <class Real>
TruncatedSvd truncated_svd(const DataMatrix<Real>& X, Index rank, DataProducts* products = nullptr,
                           std::optional<int> only = {});

/// Bytes that this takes, beside X: some copies of it where all of it is decomposed.
double truncated_svd_bytes(Index features, Index cells, Index rank);

} // namespace pnmf
