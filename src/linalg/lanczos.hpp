#pragma once

#include <pnmf/types.hpp>

#include <functional>
#include <optional>

namespace pnmf {

/// y ↦ A·y for a symmetric A, side × side: `apply(in, out)` reads and writes `side` numbers.
using SymmetricProduct = std::function<void(const double* in, double* out)>;

/// Eigenvectors of the `rank` largest eigenvalues of a symmetric positive semidefinite operator, side × rank,
/// orthonormal, largest first. Lanczos with implicit restarts (Spectra) from a fixed start, so the same on
/// every call. InputError when it does not converge. 1 ≤ rank < side.
Matrix leading_eigenvectors(Index side, const SymmetricProduct& apply, Index rank, double tolerance);

/// The largest eigenvalue of a symmetric operator, by the same method; nothing when it does not settle.
std::optional<double> largest_eigenvalue(Index side, const SymmetricProduct& apply);

} // namespace pnmf
