#pragma once

#include "cells/cell_blocks.hpp"
#include "cells/processes.hpp"
#include "graphs/sparse_graph.hpp"

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// H·A of the cells of one process, for graphs of neighbours: before a product each process sends to each
/// other one the columns of H that are neighbours of cells there, its *halo*.
///
/// Lists are symmetric, so both sides know what travels. Both keep it sorted by the shortest edge across:
/// what a scale needs is a prefix.
class OuterNeighbors {
  public:
    OuterNeighbors(const SparseMultiscaleGraph& graph, const std::vector<double>& epsilon,
                   const BlockShares& shares, int rank);

    /// HA and the degrees of scales [first, past) for their H; `products` and H are of all scales.
    template <class Real>
    void products(Index first, Index past, const std::vector<DenseMatrix<Real>>& H,
                  std::vector<ScaleProducts<Real>>& products, Processes& processes) const;

    /// The columns of the halo at scale t in H of all cells, of which each process has its own.
    template <class Real>
    void share(Index t, DenseMatrix<Real>& H, Processes& processes) const;

    /// Columns that this process sends to all others for one product at scale t.
    Index sent(Index t) const;

    // The plan, for those who have H on a device.

    /// Of the cells of this process; those of the halo are numbered after them.
    const NeighborLists& lists() const { return lists_; }
    /// Columns of the halo.
    Index columns() const { return place_.back(); }
    /// Columns that travel to a process, and from it, for one product at scale t.
    Index sent(int to, Index t) const { return count_below(out_[to], epsilon_[t]); }
    Index received(int from, Index t) const { return count_below(in_[from], epsilon_[t]); }
    /// Which cell of this process is the i-th that travels there.
    Index sent_cell(int to, Index i) const { return out_[to][i].cell - first_cell_; }
    /// Where the first column from a process stands in the halo; the others follow it.
    Index place(int from) const { return place_[from]; }

  private:
    /// A cell on this side of an edge across, or on the other, and the length of its shortest one.
    struct Border {
        double length = 0.0;
        Index cell = 0;

        friend auto operator<=>(const Border&, const Border&) = default; // NOLINT(modernize-use-nullptr)
    };
    using Borders = std::vector<std::vector<Border>>; ///< of each process

    /// H of scales [first, past) in `around`, and behind its columns those of the halo that the scale needs.
    template <class Real>
    void exchange(Index first, Index past, const std::vector<DenseMatrix<Real>>& H,
                  std::vector<DenseMatrix<Real>>& around, Processes& processes) const;

    static void shorten(std::vector<Border>& borders);
    static Index count_below(const std::vector<Border>& borders, double epsilon);

    std::vector<double> epsilon_;
    double alpha_;
    Index first_cell_;
    NeighborLists lists_;      ///< of the cells of this process; cells of the halo are numbered after these
    Borders out_;              ///< cells of this process that others need
    Borders in_;               ///< cells of others that this process needs
    std::vector<Index> place_; ///< of the first cell of each process in the halo, and its size at the end
};

} // namespace pnmf
