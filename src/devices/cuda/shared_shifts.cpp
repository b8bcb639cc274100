#include "devices/cuda/shared_shifts.hpp"

#include "devices/cpu/level_sums.hpp"
#include "devices/cpu/wide_sums.hpp"

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
double SharedShifts<Real>::bytes_of_work(const Shape& shape, double slots) {
    const double lists = 4.0 * 5.0 + 16.0; // of a component, and what is left of it
    return slots * (shape.rank * (16.0 + sizeof(Real)) + lists + 16.0) +
           4.0 * static_cast<double>(shape.cells) * (shape.scales + 1.0);
}

template <class Real>
void SharedShifts<Real>::prepare(const Shape& shape, const ComponentForest& forest, const BlockShares& shares,
                                 int place) {
    shape_ = shape;
    const BlockSlab slab = shares.slab(place);
    cells_in_block_ = shares.blocks.size;
    blocks_ = slab.past - slab.first;
    ShiftForest all(forest, shares, place);
    const std::vector<std::int32_t> order = order_of_cells(forest, slab);
    std::vector<std::int32_t> slot(order.size() * static_cast<std::size_t>(forest.scales()));
    parallel_for(forest.scales(), [&](Index t) {
        const ShiftForest::Level& level = all[t];
        for (Index place = 0; place < shape.cells; ++place) {
            const std::int32_t j = order[place];
            slot[t * shape.cells + place] =
                slot_of(level, level.component[j], slab.blocks.of(slab.first_cell() + j));
        }
    });
    cell_.upload(order);
    slot_.upload(slot);
    upload_forest(all);
    gradient_.allocate(host_level_.back() * shape.rank);
    shift_.allocate(host_level_.back() * shape.rank);
    least_.allocate(host_level_.back() * shape.rank);
    length_.allocate(shape.rank);
    along_.allocate(2 * blocks_ * shape.scales);
    wide_.emplace(wide_alone(std::move(all)));
}

/// Narrow components of all scales one after another, and entries of wide ones.
template <class Real>
void SharedShifts<Real>::upload_forest(const ShiftForest& forest) {
    std::vector<std::int64_t> node{0};
    std::vector<std::int32_t> size;
    std::vector<std::int32_t> parent;
    std::vector<std::int32_t> first_child;
    std::vector<std::int32_t> children;
    std::vector<std::int32_t> first_narrow;
    std::vector<std::int32_t> entry_scale;
    std::vector<std::int32_t> first_inside;
    std::vector<std::int32_t> inside;
    host_level_.assign(1, 0);
    host_wide_level_.assign(1, 0);
    first_entry_.assign(1, 0);
    narrow_.clear();
    most_narrow_ = 0;
    for (Index t = 0; t < forest.scales(); ++t) {
        const ShiftForest::Level& level = forest[t];
        const auto before = static_cast<std::int32_t>(children.size());
        const auto inside_before = static_cast<std::int32_t>(inside.size());
        size.insert(size.end(), level.size.begin(), level.size.begin() + level.narrow);
        if (t + 1 < forest.scales()) {
            parent.insert(parent.end(), level.parent.begin(), level.parent.begin() + level.narrow);
        }
        for (Index c = 0; c <= level.narrow; ++c) {
            first_child.push_back(before + level.first_child[c]);
        }
        children.insert(children.end(), level.children.begin(),
                        level.children.begin() + level.first_child[level.narrow]);
        first_narrow.insert(first_narrow.end(), level.first_narrow.begin(), level.first_narrow.end());
        for (std::size_t e = 0; e < level.block.size(); ++e) {
            entry_scale.push_back(static_cast<std::int32_t>(t));
            first_inside.push_back(inside_before + level.first_inside[e]);
        }
        inside.insert(inside.end(), level.inside.begin(), level.inside.end());
        node.push_back(node.back() + level.narrow);
        narrow_.push_back(level.narrow);
        most_narrow_ = std::max(most_narrow_, level.narrow);
        host_level_.push_back(host_level_.back() + count_slots(level));
        host_wide_level_.push_back(host_wide_level_.back() + static_cast<std::int32_t>(level.wide()));
        first_entry_.push_back(first_entry_.back() + std::ssize(level.block));
    }
    parent.resize(size.size(), 0); // the coarsest have none
    first_inside.push_back(static_cast<std::int32_t>(inside.size()));
    level_.upload(host_level_);
    node_.upload(node);
    size_.upload(size);
    parent_.upload(parent);
    first_child_.upload(first_child);
    children_.upload(children);
    first_narrow_.upload(first_narrow);
    wide_level_.upload(host_wide_level_);
    entry_scale_.upload(entry_scale);
    first_inside_.upload(first_inside);
    inside_.upload(inside);
    eliminated_.allocate(node.back());
    handed_.allocate(first_entry_.back());
    wide_shift_.allocate(host_wide_level_.back());
}

template <class Real>
NarrowArguments<Real> SharedShifts<Real>::arguments() {
    return {.forest = {.scales = shape_.scales,
                       .rank = shape_.rank,
                       .blocks = blocks_,
                       .entries = first_entry_.back(),
                       .level = level_.get(),
                       .node = node_.get(),
                       .size = size_.get(),
                       .parent = parent_.get(),
                       .first_child = first_child_.get(),
                       .children = children_.get(),
                       .first_narrow = first_narrow_.get(),
                       .wide_level = wide_level_.get(),
                       .entry_scale = entry_scale_.get(),
                       .first_inside = first_inside_.get(),
                       .inside = inside_.get()},
            .penalties = penalties_,
            .WtW = WtW_,
            .gradient = gradient_.get(),
            .least = least_.get(),
            .shift = shift_.get(),
            .length = length_.get(),
            .eliminated = eliminated_.get(),
            .handed = handed_.get(),
            .wide_shift = wide_shift_.get(),
            .along = along_.get()};
}

template <class Real>
void SharedShifts<Real>::run(const std::vector<ScalePenalty>& penalties, const Penalties<Real>& on_device,
                             const ExactPenalties& exact, const ProductsView<Real>& products,
                             Processes& processes, Real* H) {
    penalties_ = exact;
    WtW_ = products.WtW;
    if (shape_.cells > 0) {
        sum_slots<Real>(shape_, slots(), on_device, products, H, gradient_.get(), least_.get());
    }
    collect_wide(processes);
    std::vector<Real> WtW(static_cast<std::size_t>(shape_.grams()));
    copy_from_device(WtW.data(), products.WtW, WtW.size() * sizeof(Real));
    std::vector<ScaleProducts<Real>> grams(static_cast<std::size_t>(shape_.scales));
    for (int t = 0; t < shape_.scales; ++t) {
        grams[static_cast<std::size_t>(t)].WtW = Eigen::Map<const DenseMatrix<Real>>(
            WtW.data() + static_cast<Index>(t) * shape_.rank * shape_.rank, shape_.rank, shape_.rank);
    }
    solve_shifts(penalties, *wide_, grams, buffer_, processes, {}, this);
    if (shape_.cells > 0) {
        cut_narrow(arguments(), most_narrow_, least_.get());
        upload_wide_moves();
        move_slots<Real>(shape_, slots(), least_.get(), products.degree, H, products.HA);
    }
}

/// Into `room_`: half gradients and least entries of wide components, over all processes.
template <class Real>
void SharedShifts<Real>::collect_wide(Processes& processes) {
    const Index d = shape_.rank;
    const ShiftForest& forest = *wide_;
    buffer_.levels.resize(static_cast<std::size_t>(forest.scales()));
    WideSums wide(forest, processes, 2 * d);
    for (Index t = 0; t < forest.scales(); ++t) {
        const ShiftForest::Level& level = forest[t];
        ShiftBuffer::Level& sums = buffer_.levels[t];
        sums.gradient.resize(level.count(), d);
        sums.least.resize(level.count(), d);
        sums.shift.resize(level.count(), d);
        const Index entries = std::ssize(level.block);
        if (entries == 0) {
            continue;
        }
        Matrix S(entries, d);
        DenseMatrix<Real> least(entries, d);
        const Index slots_here = host_level_[t + 1] - host_level_[t];
        const std::int64_t from = host_level_[t] * d + narrow_[t];
        gradient_.download_columns(S.data(), from, slots_here, entries, d);
        least_.download_columns(least.data(), from, slots_here, entries, d);
        wide.fill<SumAndLeast>(t, [&](Index entry, double* row) {
            for (Index k = 0; k < d; ++k) {
                row[k] = S(entry, k);
                row[d + k] = static_cast<double>(least(entry, k));
            }
        });
    }
    join_wide(forest, {}, d, wide, buffer_.levels);
}

template <class Real>
void SharedShifts<Real>::begin(Index first, Index count) {
    first_row_ = static_cast<int>(first);
    if (first > 0) {
        move_narrow_gradients(arguments(), most_narrow_, first_row_, static_cast<int>(count));
    }
}

template <class Real>
void SharedShifts<Real>::eliminate(Index k) {
    eliminate_narrow(arguments(), first_row_, static_cast<int>(k));
    host_handed_ = handed_.download();
}

template <class Real>
HandedOn SharedShifts<Real>::handed(Index t, Index entry) const {
    const Eliminated& sum = host_handed_[first_entry_[t] + entry];
    return {sum.pivot, sum.right};
}

template <class Real>
void SharedShifts<Real>::substitute(Index k, const std::vector<ShiftBuffer::Level>& wide) {
    std::vector<double> shifts;
    for (const ShiftBuffer::Level& level : wide) {
        const auto column = level.shift.col(k);
        shifts.insert(shifts.end(), column.data(), column.data() + column.size());
    }
    wide_shift_.upload_part(shifts.data(), 0, std::ssize(shifts));
    substitute_narrow(arguments(), static_cast<int>(k));
    host_along_ = along_.download();
}

template <class Real>
ShiftQuadratic SharedShifts<Real>::along(Index t, Index block) const {
    const double* const sums = host_along_.data() + 2 * (t * blocks_ + block);
    return {sums[0], sums[1]};
}

template <class Real>
void SharedShifts<Real>::shorten(Index k, double length) {
    length_.upload_part(&length, k, 1);
}

/// Of the entries of wide components, which stand behind the narrow ones of a scale.
template <class Real>
void SharedShifts<Real>::upload_wide_moves() {
    const Index d = shape_.rank;
    for (Index t = 0; t < wide_->scales(); ++t) {
        const ShiftForest::Level& level = (*wide_)[t];
        DenseMatrix<Real> moves(d, std::ssize(level.block));
        for (Index w = 0; w < level.wide(); ++w) {
            for (Index e = level.first_entry[w]; e < level.first_entry[w + 1]; ++e) {
                moves.col(e) = buffer_.levels[t].shift.row(w).transpose().template cast<Real>();
            }
        }
        least_.upload_part(moves.data(), (host_level_[t] + narrow_[t]) * d, moves.size());
    }
}

template class SharedShifts<float>;
template class SharedShifts<double>;

} // namespace pnmf::cuda
