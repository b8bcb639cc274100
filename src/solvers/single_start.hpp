#pragma once

#include <pnmf/model/problem.hpp>
#include <pnmf/solvers/initial.hpp>

namespace pnmf {

/// `nested_start` as a fit makes it: in double precision the levels are solved in single precision all the
/// same. They are rough, their sweeps take about two thirds of the time there, and the sweeps over all
/// scales, in double precision, begin where they end. A log's states hold the numbers of the levels in double
/// precision, which is exact.
///
/// Where there are no levels, or where values of X, sums of their squares or weights λ could leave the range
/// of single precision, all is done in double precision. X is copied in single precision for as long as this
/// takes.
template <RealNumber Real>
Factors<Real> quick_nested_start(const Problem<Real>& problem, Pair<Real> pair, const LevelOptions& options,
                                 const Observer& observer, StartLog<Real> log);

} // namespace pnmf
