#pragma once

#include "cells/cell_blocks.hpp"
#include "cells/processes.hpp"

#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <span>
#include <vector>

namespace pnmf {

/// The columns of all processes.
template <class Real>
DenseMatrix<Real> all_columns(const BlockShares& shares, Processes& processes,
                              const DenseMatrix<Real>& part) {
    std::vector<Index> counts;
    for (int r = 0; r < processes.count(); ++r) {
        counts.push_back(part.rows() * shares.slab(r).cells());
    }
    const std::vector<Real> all = gather_to_all(processes, std::span(part.data(), part.size()), counts);
    return Eigen::Map<const DenseMatrix<Real>>(all.data(), part.rows(), shares.blocks.cells);
}

/// The points of a fit as one process works on them: all of W, and H of its cells. Where the factors outside
/// have the same cells, they are worked on in place. Else this takes its part and gives back what all
/// processes have.
template <class Real>
class OwnPoints {
  public:
    /// `divided`: the factors outside have the cells of this process alone.
    OwnPoints(const BlockShares& shares, Processes& processes, bool divided)
        : shares_(shares), processes_(processes), divided_(divided) {}

    void load(Factors<Real>& current, Factors<Real>& previous) {
        outside_current_ = &current;
        outside_previous_ = &previous;
        if (!divided_) {
            take(current, own_current_);
            take(previous, own_previous_);
        }
    }

    void store() {
        if (!divided_) {
            give(own_current_, *outside_current_);
            give(own_previous_, *outside_previous_);
        }
    }

    /// `current` alone.
    void store_last() {
        *outside_previous_ = {}; // as large as what is asked for
        own_previous_ = {};
        if (!divided_) {
            give(own_current_, *outside_current_);
        }
    }

    Factors<Real>& current() { return divided_ ? *outside_current_ : own_current_; }
    Factors<Real>& previous() { return divided_ ? *outside_previous_ : own_previous_; }

  private:
    void take(const Factors<Real>& factors, Factors<Real>& part) const {
        const BlockSlab slab = shares_.slab(processes_.place());
        part = {};
        DenseMatrix<Real> buffer;
        for (Index t = 0; t < factors.scales(); ++t) {
            part.W.push_back(factors.basis(t, buffer));
            part.H.push_back(factors.H[t].middleCols(slab.first_cell(), slab.cells()));
        }
    }

    void give(const Factors<Real>& part, Factors<Real>& factors) const {
        factors.W.resize(part.W.size());
        factors.H.resize(part.H.size());
        for (Index t = 0; t < part.scales(); ++t) {
            factors.W[t] = part.W[t];
            factors.rest(t);
            factors.H[t] = all_columns(shares_, processes_, part.H[t]);
        }
    }

    const BlockShares& shares_;
    Processes& processes_;
    bool divided_;
    Factors<Real>* outside_current_ = nullptr;
    Factors<Real>* outside_previous_ = nullptr;
    Factors<Real> own_current_;
    Factors<Real> own_previous_;
};

} // namespace pnmf
