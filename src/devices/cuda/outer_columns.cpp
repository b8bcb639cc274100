#include "devices/cuda/outer_columns.hpp"

#include "devices/cuda/host_data.hpp"
#include "devices/cuda/stacks.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pnmf::cuda {

template <class Real>
OuterColumns<Real>::OuterColumns(const Problem<Real>& problem, const BlockShares& shares,
                                 Processes& processes)
    : shares_(shares), processes_(processes) {
    if (const auto* lists = dynamic_cast<const SparseMultiscaleGraph*>(problem.graph)) {
        outer_.emplace(*lists, problem.epsilon, shares, processes.place());
        graph_.take_lists(outer_->lists().start, outer_->lists().cell, outer_->lists().length, {});
    } else {
        take_graph_of_cells(problem, shares.slab(processes.place()), graph_);
    }
    take_scales(problem, graph_);
}

template <class Real>
void OuterColumns<Real>::prepare(const Shape& shape) {
    shape_ = shape;
    if (!outer_) {
        all_.allocate(shape.stride() * shares_.blocks.cells);
        return;
    }
    std::vector<std::int64_t> from;
    std::vector<std::int64_t> to;
    sent_.clear();
    received_.clear();
    for (int r = 0; r < processes_.count(); ++r) {
        const auto before = std::pair(std::ssize(from), std::ssize(to));
        for (int t = 0; t < shape.scales; ++t) {
            const std::int64_t row = static_cast<std::int64_t>(t) * shape.rank;
            for (Index i = 0; i < outer_->sent(r, t); ++i) {
                from.push_back(outer_->sent_cell(r, i) * shape.stride() + row);
            }
            for (Index i = 0; i < outer_->received(r, t); ++i) {
                to.push_back((shape.cells + outer_->place(r) + i) * shape.stride() + row);
            }
        }
        sent_.push_back(std::ssize(from) - before.first);
        received_.push_back(std::ssize(to) - before.second);
    }
    from_place_.upload(from);
    to_place_.upload(to);
    out_.resize(from.size() * static_cast<std::size_t>(shape.rank));
    in_.resize(to.size() * static_cast<std::size_t>(shape.rank));
    travelling_.allocate(static_cast<std::int64_t>(std::max(out_.size(), in_.size())));
}

template <class Real>
void OuterColumns<Real>::products(const Products& library, Real* H, Real* HA) {
    if (outer_) {
        bring_outer(H);
        graph_.products(library, shape_, H, HA);
    } else {
        bring_all(H);
        graph_.products(library, shape_, all_.get(), HA);
    }
}

template <class Real>
void OuterColumns<Real>::bring_outer(Real* H) {
    take_columns<Real>(shape_.rank, from_place_.get(), from_place_.size(), H, travelling_.get());
    travelling_.download_part(out_.data(), 0, std::ssize(out_));
    const auto next = [&](auto*& numbers, std::int64_t columns) {
        const auto count = static_cast<std::size_t>(columns * shape_.rank);
        return std::span(std::exchange(numbers, numbers + count), count);
    };
    const Real* out = out_.data();
    Real* in = in_.data();
    exchange_parts<Real>(
        processes_, [&](int r) { return next(out, sent_[r]); },
        [&](int r) { return next(in, received_[r]); });
    travelling_.upload_part(in_.data(), 0, std::ssize(in_));
    put_columns<Real>(shape_.rank, to_place_.get(), to_place_.size(), travelling_.get(), H);
}

template <class Real>
void OuterColumns<Real>::bring_all(const Real* H) {
    std::vector<Real> mine(static_cast<std::size_t>(shape_.stacked()));
    if (!mine.empty()) {
        copy_from_device(mine.data(), H, mine.size() * sizeof(Real));
    }
    std::vector<Index> counts;
    for (int r = 0; r < processes_.count(); ++r) {
        counts.push_back(shape_.stride() * shares_.slab(r).cells());
    }
    const std::vector<Real> all = gather_to_all(processes_, std::span<const Real>(mine), counts);
    all_.upload_part(all.data(), 0, std::ssize(all));
}

template class OuterColumns<float>;
template class OuterColumns<double>;

} // namespace pnmf::cuda
