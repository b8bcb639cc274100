#include "devices/cuda/shared_sums.hpp"

#include "cells/node_sums.hpp"
#include "devices/cuda/basis_step.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace pnmf::cuda {
namespace {

constexpr std::int64_t bytes_of_grams = 256 << 20;

/// Blocks whose HHᵀ are made at once: a power of two.
Index grams_together(const Shape& shape, Index blocks, std::int64_t bytes_of_number) {
    const std::int64_t fitting = bytes_of_grams / (shape.grams() * bytes_of_number);
    return static_cast<Index>(std::bit_floor(
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(fitting, 1, std::max<Index>(1, blocks)))));
}

/// `AllSums` as numbers in a row.
struct Numbers {
    std::array<double, all_sums> at{};

    Numbers& operator+=(const Numbers& other) {
        std::transform(at.begin(), at.end(), other.at.begin(), at.begin(), std::plus<>());
        return *this;
    }
};

/// Over the blocks of a node: the parts of a block one after another, blocks along the tree.
/// `parts` has sum s of a part at [s·count + part].
Numbers sum_node(const double* parts, Index count, Index cells_of_part, const BlockSlab& slab,
                 const BlockNode& node) {
    BlockSum<Numbers> sum;
    for (Index block = node.first; block < node.past; ++block) {
        Numbers of_block;
        const Index first = slab.begin(block) / cells_of_part;
        const Index past = (slab.end(block) + cells_of_part - 1) / cells_of_part;
        for (Index part = first; part < past; ++part) {
            for (std::size_t s = 0; s < of_block.at.size(); ++s) {
                of_block.at[s] += parts[static_cast<Index>(s) * count + part];
            }
        }
        sum.add(block, of_block);
    }
    return sum.finish();
}

} // namespace

template <class Real>
double SharedSums<Real>::bytes_of_work(const Shape& shape, Index processes, const CellBlocks& blocks) {
    const Index mine = (shape.cells + blocks.size - 1) / std::max<Index>(1, blocks.size);
    const auto bases = static_cast<double>(shape.bases());
    const auto grams = static_cast<double>(shape.grams());
    const double owned = static_cast<double>((shape.scales + processes - 1) / processes) / shape.scales;
    const Index together = grams_together(shape, mine, sizeof(Real));
    const double kept = static_cast<double>(TreeSum<Real>::most_kept(mine, 1));
    // A part may be a quarter of a block although `blocks`, those of one process, are only one.
    const Index quarter = blocks.size > CellBlocks::largest_panel ? blocks.size / 4 : blocks.size;
    const std::int64_t part = std::max<Index>(1, std::min(blocks.panel(), quarter));
    return (bases * (1.0 + owned + kept) + grams * (static_cast<double>(together) + kept + 1.0) +
            static_cast<double>(shape.scales * shape.features)) *
               sizeof(Real) +
           8.0 * static_cast<double>(measure_parts(shape, part));
}

template <class Real>
void SharedSums<Real>::prepare(const Shape& shape) {
    const CellBlocks& blocks = slab_.blocks;
    cells_of_part_ = blocks.panel();
    require(blocks.count() <= 1 || blocks.size % cells_of_part_ == 0,
            "blocks of cells must be of a multiple of {} cells, got {}", cells_of_part_, blocks.size);
    shape_ = shape;
    owned_.clear();
    for (int t = 0; t < shape.scales; ++t) {
        if (owner(t) == processes_.place()) {
            owned_.push_back(t);
        }
    }
    grams_at_once_ = grams_together(shape, slab_.past - slab_.first, sizeof(Real));
    XHt_.allocate(shape.bases());
    HHt_.allocate(shape.grams());
    gram_parts_.allocate(grams_at_once_ * shape.grams());
    W_.allocate(std::ssize(owned_) * shape.rank * shape.features);
    buffer_.allocate(std::ssize(owned_) * shape.features);
    moved_.allocate(2 * std::ssize(owned_));
    parts_.allocate(measure_parts(shape, cells_of_part_));
}

template <class Real>
void SharedSums<Real>::collect(const Products& library, DeviceData<Real>& data, const Real* H) {
    const std::int64_t of_basis = shape_.features * shape_.rank;
    const std::int64_t of_gram = static_cast<std::int64_t>(shape_.rank) * shape_.rank;
    NodeSums<Real> sums(shares_, processes_, 0, shape_.scales, of_basis + of_gram,
                        [&](Index t) { return owner(t); });
    const auto nodes = shares_.nodes_of(processes_.place());
    for (Index node = 0; node < std::ssize(nodes); ++node) {
        const Real* const product =
            products_.over(nodes[node], data.blocks_at_once(), shape_.bases(), [&](Index b, Index count) {
                return data.parts_of_blocks(library, H, b - slab_.first, count);
            });
        data.put_sum(product, XHt_.get());
        const Real* const gram =
            grams_.over(nodes[node], grams_at_once_, shape_.grams(), [&](Index b, Index count) {
                gram_of_blocks(shape_, slab_.blocks.size, b - slab_.first, count, H, gram_parts_.get());
                return gram_parts_.get();
            });
        const std::vector<Real> XHt = XHt_.download();
        std::vector<Real> HHt(static_cast<std::size_t>(shape_.grams()));
        copy_from_device(HHt.data(), gram, HHt.size() * sizeof(Real));
        for (int t = 0; t < shape_.scales; ++t) {
            Real* const numbers = sums.mine(t, node);
            std::copy_n(XHt.data() + t * of_basis, of_basis, numbers);
            std::copy_n(HHt.data() + t * of_gram, of_gram, numbers + of_basis);
        }
    }
    sums.exchange();
    for (std::int64_t i = 0; i < std::ssize(owned_); ++i) {
        const Real* const total = sums.total(owned_[static_cast<std::size_t>(i)]);
        XHt_.upload_part(total, i * of_basis, of_basis);
        HHt_.upload_part(total + of_basis, i * of_gram, of_gram);
    }
}

template <class Real>
std::vector<Movement> SharedSums<Real>::step(Index passes, DeviceArray<Real>& W) {
    const std::int64_t of_basis = shape_.features * shape_.rank;
    std::vector<Real> bases(static_cast<std::size_t>(shape_.bases()));
    std::vector<Movement> moved(static_cast<std::size_t>(shape_.scales));
    if (!owned_.empty()) {
        for (std::int64_t i = 0; i < std::ssize(owned_); ++i) {
            check(cudaMemcpyAsync(W_.get() + i * of_basis, W.get() + owned_[i] * of_basis,
                                  static_cast<std::size_t>(of_basis) * sizeof(Real),
                                  cudaMemcpyDeviceToDevice),
                  "copying on the device");
        }
        Shape owned = shape_;
        owned.scales = static_cast<int>(owned_.size());
        step_basis(owned, static_cast<int>(passes), XHt_.get(), HHt_.get(), W_.get(), buffer_.get(),
                   moved_.get());
        const std::vector<double> sums = moved_.download();
        for (std::int64_t i = 0; i < std::ssize(owned_); ++i) {
            moved[owned_[i]] = {sums[2 * i], sums[2 * i + 1]};
            if (passes > 0) {
                W_.download_part(bases.data() + owned_[i] * of_basis, i * of_basis, of_basis);
            }
        }
    }
    if (passes == 0) {
        for (int t = 0; t < shape_.scales; ++t) {
            broadcast(processes_, std::span(&moved[t], 1), owner(t));
        }
        return moved;
    }
    send_bases(bases, moved);
    W.upload_part(bases.data(), 0, std::ssize(bases));
    return moved;
}

/// W and movements of every scale, from the processes that own them to all.
template <class Real>
void SharedSums<Real>::send_bases(std::vector<Real>& W, std::vector<Movement>& moved) {
    const auto of_basis = static_cast<std::size_t>(shape_.features * shape_.rank);
    FromOwners shared(processes_);
    for (int t = 0; t < shape_.scales; ++t) {
        shared.add(owner(t), std::span<Real>(W.data() + t * of_basis, of_basis));
        shared.add(owner(t), std::span<Movement>(&moved[t], 1));
    }
    shared.exchange();
}

template <class Real>
std::vector<AllSums> SharedSums<Real>::measure(const Penalties<Real>& penalties,
                                               const ProductsView<Real>& products, const Real* H) {
    if (shape_.cells > 0) {
        sum_parts(shape_, cells_of_part_, penalties, products, H, parts_.get());
    }
    const std::vector<double> parts = parts_.download();
    const Index count = (shape_.cells + cells_of_part_ - 1) / cells_of_part_;
    NodeSums<double> sums(shares_, processes_, 0, shape_.scales, all_sums, [](Index) { return 0; });
    const auto nodes = shares_.nodes_of(processes_.place());
    for (int t = 0; t < shape_.scales; ++t) {
        for (Index node = 0; node < std::ssize(nodes); ++node) {
            const Numbers of_node =
                sum_node(parts.data() + t * all_sums * count, count, cells_of_part_, slab_, nodes[node]);
            std::copy(of_node.at.begin(), of_node.at.end(), sums.mine(t, node));
        }
    }
    sums.exchange();
    std::vector<AllSums> totals(static_cast<std::size_t>(shape_.scales));
    for (int t = 0; processes_.place() == 0 && t < shape_.scales; ++t) {
        Numbers all;
        std::copy_n(sums.total(t), all_sums, all.at.begin());
        totals[t] = std::bit_cast<AllSums>(all.at);
    }
    broadcast(processes_, std::span(totals), 0); // so that all decide alike
    return totals;
}

template class SharedSums<float>;
template class SharedSums<double>;

} // namespace pnmf::cuda
