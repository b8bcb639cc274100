#pragma once

#include <pnmf/solvers/fit.hpp>

#include <filesystem>

/// A stored result as the start of another run.
namespace pnmf {

/// InputError unless the file holds embeddings and bases of as many scales, features and cells, and of the
/// same rank.
template <class Real>
void check_start(const std::filesystem::path& path, const PreparedFit<Real>& prepared);

/// Its factors; after `check_start`.
template <class Real>
Factors<Real> read_start(const std::filesystem::path& path, const PreparedFit<Real>& prepared);

} // namespace pnmf
