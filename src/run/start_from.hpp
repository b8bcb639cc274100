#pragma once

#include <pnmf/run/run.hpp>
#include <pnmf/solvers/fit.hpp>

#include <vector>

/// A fit as the start of another run.
namespace pnmf {

/// InputError unless it has embeddings and bases of as many scales, features and cells, and of the same rank.
template <class Real>
void check_start(const KnownFit& start, const PreparedFit<Real>& prepared);

/// The positions of its scales among all, where few stand for all; InputError when it has none.
std::vector<Index> kept_of_start(const KnownFit& start);

/// Its factors; after `check_start`.
template <class Real>
Factors<Real> read_start(const KnownFit& start, const PreparedFit<Real>& prepared);

} // namespace pnmf
