#include "devices/cuda/surroundings.hpp"

#include "devices/cuda/host_data.hpp"
#include "devices/cuda/stacks.hpp"

#include <algorithm>
#include <numeric>

namespace pnmf::cuda {

template <class Real>
Surroundings<Real>::Surroundings(const Problem<Real>& problem, const BlockShares& shares, Communicator& ranks)
    : shares_(shares), ranks_(ranks) {
    if (const auto* lists = dynamic_cast<const SparseMultiscaleGraph*>(problem.graph)) {
        halo_.emplace(*lists, problem.epsilon, shares, ranks.rank());
        graph_.take_lists(halo_->lists().start, halo_->lists().cell, halo_->lists().length, {});
    } else {
        take_graph_of_cells(problem, shares.slab(ranks.rank()), graph_);
    }
    take_scales(problem, graph_);
}

template <class Real>
void Surroundings<Real>::prepare(const Shape& shape) {
    shape_ = shape;
    if (!halo_) {
        all_.allocate(shape.stride() * shares_.blocks.cells);
        return;
    }
    std::vector<std::int64_t> from;
    std::vector<std::int64_t> to;
    sent_.clear();
    received_.clear();
    for (int r = 0; r < ranks_.size(); ++r) {
        const auto before = std::pair(std::ssize(from), std::ssize(to));
        for (int t = 0; t < shape.scales; ++t) {
            const std::int64_t row = static_cast<std::int64_t>(t) * shape.rank;
            for (Index i = 0; i < halo_->sent(r, t); ++i) {
                from.push_back(halo_->sent_cell(r, i) * shape.stride() + row);
            }
            for (Index i = 0; i < halo_->received(r, t); ++i) {
                to.push_back((shape.cells + halo_->place(r) + i) * shape.stride() + row);
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
void Surroundings<Real>::products(const Products& library, Real* H, Real* HA) {
    if (halo_) {
        bring_halo(H);
        graph_.products(library, shape_, H, HA);
    } else {
        bring_all(H);
        graph_.products(library, shape_, all_.get(), HA);
    }
}

template <class Real>
void Surroundings<Real>::bring_halo(Real* H) {
    take_columns<Real>(shape_.rank, from_place_.get(), from_place_.size(), H, travelling_.get());
    travelling_.download_part(out_.data(), 0, std::ssize(out_));
    std::vector<Communicator::Outgoing> sends;
    std::vector<Communicator::Incoming> receives;
    const Real* out = out_.data();
    Real* in = in_.data();
    for (int r = 0; r < ranks_.size(); ++r) {
        const auto count_out = static_cast<std::size_t>(sent_[r] * shape_.rank);
        const auto count_in = static_cast<std::size_t>(received_[r] * shape_.rank);
        if (count_out > 0) {
            sends.push_back({r, std::as_bytes(std::span(out, count_out))});
        }
        if (count_in > 0) {
            receives.push_back({r, std::as_writable_bytes(std::span(in, count_in))});
        }
        out += count_out;
        in += count_in;
    }
    ranks_.exchange(sends, receives);
    travelling_.upload_part(in_.data(), 0, std::ssize(in_));
    put_columns<Real>(shape_.rank, to_place_.get(), to_place_.size(), travelling_.get(), H);
}

template <class Real>
void Surroundings<Real>::bring_all(const Real* H) {
    std::vector<Real> mine(static_cast<std::size_t>(shape_.stacked()));
    if (!mine.empty()) {
        copy_from_device(mine.data(), H, mine.size() * sizeof(Real));
    }
    std::vector<Index> counts;
    for (int r = 0; r < ranks_.size(); ++r) {
        counts.push_back(shape_.stride() * shares_.slab(r).cells());
    }
    const std::vector<Real> all = gather_to_all(ranks_, std::span<const Real>(mine), counts);
    all_.upload_part(all.data(), 0, std::ssize(all));
}

template class Surroundings<float>;
template class Surroundings<double>;

} // namespace pnmf::cuda
