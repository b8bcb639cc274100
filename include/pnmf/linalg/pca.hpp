#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// Principal components of cells: the directions in which they differ most.
struct PrincipalComponents {
    Vector mean;       ///< μ, the mean cell, length p
    Matrix directions; ///< V, p × N, orthonormal columns, largest variance first
    Vector variance;   ///< of the cells along each direction, N, descending

    Index count() const { return directions.cols(); }
    /// Vᵀ(X − μ1ᵀ), N × m: the coordinates of cells, those of the fit or others.
    Matrix coordinates(const DataMatrix<double>& X) const;
};

/// The first `count` of them; fewer where X has fewer: at most min(p, n − 1). `count` ≥ 1.
///
/// They are the eigenvectors of (X − μ1ᵀ)(X − μ1ᵀ)ᵀ, p × p, found by Lanczos from products with X and Xᵀ, so
/// sparse X stays sparse; few features are decomposed whole. A direction's sign is such that its entry of
/// largest size is positive. The same bits at every call and for any number of threads.
/// InputError when all cells are equal: then there is no direction.
PrincipalComponents principal_components(const DataMatrix<double>& X, Index count);

/// The same, with the coordinates of the cells they were found from. `products` may make the products with X.
struct ComponentSpace {
    PrincipalComponents components;
    Matrix coordinates; ///< N × n; of the cells that X has
};
ComponentSpace component_space(const DataMatrix<double>& X, Index count, DataProducts* products = nullptr);

} // namespace pnmf
