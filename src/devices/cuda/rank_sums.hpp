#pragma once

#include "cells/processes.hpp"
#include "devices/cuda/data_products.hpp"
#include "devices/cuda/measures.hpp"
#include "devices/cuda/tree_sum.hpp"

#include <pnmf/model/kkt.hpp>

#include <vector>

namespace pnmf::cuda {

/// The sums over all cells of a sweep: made over blocks on the device of each rank, added along the tree of
/// blocks, and exchanged through memory of the host (`NodeSums`). Scale t of W is moved by rank t mod ranks,
/// which alone has XHᵀ and HHᵀ of it.
template <class Real>
class RankSums {
  public:
    RankSums(const BlockShares& shares, Communicator& ranks)
        : shares_(shares), ranks_(ranks), slab_(shares_.slab(ranks.rank())) {}

    /// `shape` is that of the cells of this rank.
    void prepare(const Shape& shape);
    /// Bytes that `prepare` and sums take, without those of the data's products.
    static double bytes_of_work(const Shape& shape, Index ranks, const CellBlocks& blocks);

    /// XHᵀ and HHᵀ of all cells, each scale on the rank that owns it.
    void collect(const Products& library, DeviceData<Real>& data, const Real* H);
    /// After `collect`: how far W would move at each scale, without its weight; then `passes` over the
    /// columns, and all ranks have the new W.
    std::vector<Movement> step(Index passes, DeviceArray<Real>& W);

    /// `AllSums` of every scale over all cells, on all ranks.
    std::vector<AllSums> measure(const Penalties<Real>& penalties, const ProductsView<Real>& products,
                                 const Real* H);

  private:
    int owner(Index t) const { return static_cast<int>(t % ranks_.size()); }
    void send_bases(std::vector<Real>& W, std::vector<Movement>& moved);

    BlockShares shares_;
    Communicator& ranks_;
    BlockSlab slab_;
    Shape shape_;
    std::vector<int> owned_; ///< scales of this rank
    Index grams_at_once_ = 1;
    std::int64_t cells_of_part_ = 1;
    TreeSum<Real> products_;
    TreeSum<Real> grams_;
    DeviceArray<Real> XHt_; ///< of all scales and a node, then of the scales owned and all cells
    DeviceArray<Real> HHt_;
    DeviceArray<Real> gram_parts_;
    DeviceArray<Real> W_; ///< of the scales owned
    DeviceArray<Real> room_;
    DeviceArray<double> moved_;
    DeviceArray<double> parts_;
};

} // namespace pnmf::cuda
