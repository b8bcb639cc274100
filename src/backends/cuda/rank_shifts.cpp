#include "backends/cuda/rank_shifts.hpp"

#include "backends/cpu/level_sums.hpp"
#include "backends/cpu/wide_sums.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <numeric>

namespace pnmf::cuda {
namespace {

/// The cells of a slab, those of a block together: by their components, coarsest scale first, then in their
/// own order. So what a block has of a component stands together, at every scale.
std::vector<std::int32_t> order_of_cells(const ComponentForest& forest, const BlockSlab& slab) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(slab.cells()));
    std::iota(order.begin(), order.end(), 0);
    const Index first_cell = slab.first_cell();
    parallel_for(slab.past - slab.first, [&](Index b) {
        const auto begin = order.begin() + slab.begin(slab.first + b);
        const auto end = order.begin() + slab.end(slab.first + b);
        std::stable_sort(begin, end, [&](std::int32_t i, std::int32_t j) {
            for (Index t = forest.scales() - 1; t >= 0; --t) {
                const std::int32_t of_i = forest[t].component[first_cell + i];
                const std::int32_t of_j = forest[t].component[first_cell + j];
                if (of_i != of_j) {
                    return of_i < of_j;
                }
            }
            return false;
        });
    });
    return order;
}

/// The slots of a scale: its narrow components, then what each block has of wide ones (`Level::block`).
Index count_slots(const ShiftForest::Level& level) {
    return level.narrow + std::ssize(level.block);
}

std::int32_t slot_of(const ShiftForest::Level& level, std::int32_t component, Index block) {
    if (component < level.narrow) {
        return component;
    }
    const Index w = component - level.narrow;
    const auto blocks = level.block.begin();
    const auto entry =
        std::lower_bound(blocks + level.first_entry[w], blocks + level.first_entry[w + 1], block) - blocks;
    return static_cast<std::int32_t>(level.narrow + entry);
}

} // namespace

template <class Real>
double RankShifts<Real>::bytes_of_work(const Shape& shape, double slots) {
    return slots * shape.rank * (8.0 + sizeof(Real)) +
           4.0 * static_cast<double>(shape.cells) * (shape.scales + 1.0);
}

template <class Real>
void RankShifts<Real>::prepare(const Shape& shape, const ComponentForest& forest, const BlockShares& shares,
                               int rank) {
    shape_ = shape;
    cells_in_block_ = shares.blocks.size;
    forest_.emplace(forest, shares, rank);
    const BlockSlab slab = shares.slab(rank);
    const std::vector<std::int32_t> order = order_of_cells(forest, slab);
    host_level_.assign(1, 0);
    for (Index t = 0; t < forest.scales(); ++t) {
        host_level_.push_back(host_level_.back() + count_slots((*forest_)[t]));
    }
    std::vector<std::int32_t> slot(order.size() * static_cast<std::size_t>(forest.scales()));
    parallel_for(forest.scales(), [&](Index t) {
        const ShiftForest::Level& level = (*forest_)[t];
        for (Index place = 0; place < shape.cells; ++place) {
            const std::int32_t j = order[place];
            slot[t * shape.cells + place] =
                slot_of(level, level.component[j], slab.blocks.of(slab.first_cell() + j));
        }
    });
    cell_.upload(order);
    slot_.upload(slot);
    level_.upload(host_level_);
    gradient_.allocate(host_level_.back() * shape.rank);
    least_.allocate(host_level_.back() * shape.rank);
}

template <class Real>
void RankShifts<Real>::run(const std::vector<ScalePenalty>& penalties, const Penalties<Real>& on_device,
                           const ProductsView<Real>& products, Communicator& ranks, Real* H) {
    if (shape_.cells > 0) {
        sum_slots<Real>(shape_, slots(), on_device, products, H, gradient_.get(), least_.get());
    }
    collect_sums(gradient_.download(), least_.download(), ranks);
    std::vector<ScaleProducts<Real>> grams(static_cast<std::size_t>(shape_.scales));
    for (int t = 0; t < shape_.scales; ++t) {
        auto& WtW = grams[static_cast<std::size_t>(t)].WtW;
        WtW.resize(shape_.rank, shape_.rank);
        copy_from_device(WtW.data(), products.WtW + t * WtW.size(),
                         static_cast<std::size_t>(WtW.size()) * sizeof(Real));
    }
    solve_shifts(penalties, *forest_, grams, room_, ranks);
    if (shape_.cells > 0) {
        const std::vector<Real> all = moves();
        least_.upload_part(all.data(), 0, std::ssize(all));
        move_slots<Real>(shape_, slots(), least_.get(), products.degree, H, products.HA);
    }
}

/// Into `room_`: sums of narrow components as they are, those of wide ones over all ranks.
template <class Real>
void RankShifts<Real>::collect_sums(const std::vector<double>& gradient, const std::vector<Real>& least,
                                    Communicator& ranks) {
    const Index d = shape_.rank;
    const ShiftForest& forest = *forest_;
    room_.levels.resize(static_cast<std::size_t>(forest.scales()));
    WideSums wide(forest, ranks, 2 * d);
    parallel_for(forest.scales(), [&](Index t) {
        const ShiftForest::Level& level = forest[t];
        ShiftRoom::Level& sums = room_.levels[t];
        const Index count = count_slots(level);
        const Eigen::Map<const Matrix> S(gradient.data() + first_slot(t) * d, count, d);
        const Eigen::Map<const DenseMatrix<Real>> smallest(least.data() + first_slot(t) * d, count, d);
        sums.gradient.resize(level.count(), d);
        sums.least.resize(level.count(), d);
        sums.shift.resize(level.count(), d);
        sums.gradient.topRows(level.narrow) = S.topRows(level.narrow);
        sums.least.topRows(level.narrow) = smallest.topRows(level.narrow).template cast<double>();
        wide.fill<SumAndLeast>(t, [&](Index entry, double* row) {
            for (Index k = 0; k < d; ++k) {
                row[k] = S(level.narrow + entry, k);
                row[d + k] = static_cast<double>(smallest(level.narrow + entry, k));
            }
        });
    });
    join_wide(forest, {}, d, wide, room_.levels);
}

/// Of every slot, its rows side by side.
template <class Real>
std::vector<Real> RankShifts<Real>::moves() const {
    const Index d = shape_.rank;
    std::vector<Real> all(static_cast<std::size_t>(host_level_.back() * d));
    parallel_for(forest_->scales(), [&](Index t) {
        const ShiftForest::Level& level = (*forest_)[t];
        const Matrix& shift = room_.levels[t].shift;
        Eigen::Map<DenseMatrix<Real>> to(all.data() + first_slot(t) * d, d, count_slots(level));
        to.leftCols(level.narrow) = shift.topRows(level.narrow).transpose().template cast<Real>();
        for (Index w = 0; w < level.wide(); ++w) {
            for (Index e = level.first_entry[w]; e < level.first_entry[w + 1]; ++e) {
                to.col(level.narrow + e) = shift.row(level.narrow + w).transpose().template cast<Real>();
            }
        }
    });
    return all;
}

template class RankShifts<float>;
template class RankShifts<double>;

} // namespace pnmf::cuda
