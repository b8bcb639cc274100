#pragma once

#include <pnmf/model/problem.hpp>
#include <pnmf/solvers/initial.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// The links of the chained start on some device: graph-regularised NMF on the graph of one scale by plain
/// multiplicative steps (`fit_graph_regularized` says which). Made for one problem, which outlives it.
template <class Real>
class Chain {
  public:
    Chain() = default;
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;
    virtual ~Chain() = default;

    /// Moves the pair, at scale t, until the loss changes by at most `tolerance`, relative, or `limit` steps
    /// are made. Returns the steps made. H has all cells; where each process holds X of some, these are moved
    /// there, and the others may be left behind.
    virtual Index fit(Index t, double tolerance, Index limit, Pair<Real>& pair) = 0;
};

} // namespace pnmf
