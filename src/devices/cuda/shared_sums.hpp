#pragma once

#include "cells/processes.hpp"
#include "devices/cuda/data_products.hpp"
#include "devices/cuda/measures.hpp"
#include "devices/cuda/tree_sum.hpp"

#include <pnmf/model/objective.hpp>

#include <vector>

namespace pnmf::cuda {

/// The sums over all cells of a sweep: made over blocks on the device of each process, added along the tree
/// of blocks, and exchanged through memory of the host (`NodeSums`). Scale t of W is moved by process t mod
/// processes, which alone has XHᵀ and HHᵀ of it.
template <class Real>
class SharedSums {
  public:
    SharedSums(const BlockShares& shares, Processes& processes)
        : shares_(shares), processes_(processes), slab_(shares_.slab(processes.place())) {}

    /// `shape` is that of the cells of this process.
    void prepare(const Shape& shape);
    /// Bytes that `prepare` and sums take, without those of the data's products.
    static double bytes_of_work(const Shape& shape, Index processes, const CellBlocks& blocks);

    /// XHᵀ and HHᵀ of all cells, each scale on the process that owns it.
    void collect(const Products& library, DeviceData<Real>& data, const Real* H);
    /// After `collect`: how far W would move at each scale, without its weight; then `passes` over the
    /// columns, and all processes have the new W.
    std::vector<Movement> step(Index passes, DeviceArray<Real>& W);

    /// `AllSums` of every scale over all cells, on all processes.
    std::vector<AllSums> measure(const Penalties<Real>& penalties, const ProductsView<Real>& products,
                                 const Real* H);

  private:
    int owner(Index t) const { return static_cast<int>(t % processes_.count()); }
    void send_bases(std::vector<Real>& W, std::vector<Movement>& moved);

    BlockShares shares_;
    Processes& processes_;
    BlockSlab slab_;
    Shape shape_;
    std::vector<int> owned_; ///< scales of this process
    Index grams_at_once_ = 1;
    std::int64_t cells_of_part_ = 1;
    TreeSum<Real> products_;
    TreeSum<Real> grams_;
    DeviceArray<Real> XHt_; ///< of all scales and a node, then of the scales owned and all cells
    DeviceArray<Real> HHt_;
    DeviceArray<Real> gram_parts_;
    DeviceArray<Real> W_; ///< of the scales owned
    DeviceArray<Real> buffer_;
    DeviceArray<double> moved_;
    DeviceArray<double> parts_;
};

} // namespace pnmf::cuda
