#pragma once

#include <pnmf/solvers/fit.hpp>

#include <filesystem>

/// A stored result as the start of another run.
namespace pnmf {

/// InputError unless the file holds embeddings and bases of as many scales, features and cells, and of the
/// same rank.
template <class Real>
void check_start(const std::filesystem::path& path, const PreparedFit<Real>& prepared);

/// The positions of its scales among all, where few stand for all; InputError when it has none.
std::vector<Index> kept_of_start(const std::filesystem::path& path);

/// Its factors; after `check_start`.
template <class Real>
Factors<Real> read_start(const std::filesystem::path& path, const PreparedFit<Real>& prepared);

} // namespace pnmf
