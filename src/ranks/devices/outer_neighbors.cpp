#include "cells/devices/outer_neighbors.hpp"

#include "cells/shared_work.hpp"
#include "graphs/scale_forms.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>

namespace pnmf {

/// One border for each cell, the shortest, then by length.
void OuterNeighbors::shorten(std::vector<Border>& borders) {
    std::sort(borders.begin(), borders.end(), [](const Border& a, const Border& b) {
        return std::pair(a.cell, a.length) < std::pair(b.cell, b.length);
    });
    borders.erase(std::unique(borders.begin(), borders.end(),
                              [](const Border& a, const Border& b) { return a.cell == b.cell; }),
                  borders.end());
    std::sort(borders.begin(), borders.end());
}

Index OuterNeighbors::count_below(const std::vector<Border>& borders, double epsilon) {
    const auto past = std::partition_point(borders.begin(), borders.end(),
                                           [&](const Border& border) { return border.length < epsilon; });
    return past - borders.begin();
}

OuterNeighbors::OuterNeighbors(const SparseMultiscaleGraph& graph, const std::vector<double>& epsilon,
                               const BlockShares& shares, int rank)
    : epsilon_(epsilon), alpha_(graph.alpha()), first_cell_(shares.slab(rank).first_cell()),
      out_(static_cast<std::size_t>(shares.processes())), in_(out_.size()), place_{0} {
    const NeighborLists& all = graph.lists();
    const Index cells = shares.slab(rank).cells();
    const auto rank_of = [&](Index cell) {
        const auto past = std::upper_bound(shares.first.begin(), shares.first.end(), shares.blocks.of(cell));
        return static_cast<int>(past - shares.first.begin()) - 1;
    };
    for (Index j = 0; j < cells; ++j) {
        for (auto e = all.start[first_cell_ + j]; e < all.start[first_cell_ + j + 1]; ++e) {
            if (!(all.length[e] < epsilon.back())) {
                break; // no scale has this edge
            }
            const int other = rank_of(all.cell[e]);
            if (other != rank) {
                out_[other].push_back({all.length[e], first_cell_ + j});
                in_[other].push_back({all.length[e], all.cell[e]});
            }
            lists_.cell.push_back(all.cell[e]);
            lists_.length.push_back(all.length[e]);
        }
        lists_.start.push_back(std::ssize(lists_.cell));
    }
    std::vector<std::pair<Index, Index>> number; // of the cells of the halo
    for (std::size_t r = 0; r < in_.size(); ++r) {
        shorten(out_[r]);
        shorten(in_[r]);
        for (const Border& border : in_[r]) {
            number.emplace_back(border.cell, cells + std::ssize(number));
        }
        place_.push_back(std::ssize(number));
    }
    std::sort(number.begin(), number.end());
    for (std::int32_t& cell : lists_.cell) {
        const bool mine = first_cell_ <= cell && cell < first_cell_ + cells;
        cell = static_cast<std::int32_t>(
            mine ? cell - first_cell_
                 : std::lower_bound(number.begin(), number.end(), std::pair(Index{cell}, Index{0}))->second);
    }
}

Index OuterNeighbors::sent(Index t) const {
    Index columns = 0;
    for (const std::vector<Border>& borders : out_) {
        columns += count_below(borders, epsilon_[t]);
    }
    return columns;
}

template <class Real>
void OuterNeighbors::products(Index first, Index past, const std::vector<DenseMatrix<Real>>& H,
                              std::vector<ScaleProducts<Real>>& products, Processes& processes) const {
    // Some scales at a time: what waits to be sent, and H with its halo, shall stay small. How many may
    // differ from rank to rank: a message is of one scale, and they come in the order of the scales. So the
    // rank whose part ends first finds all that it waits for on its way.
    constexpr Index buffer = Index{1} << 26U; // bytes
    const Index columns = std::ssize(lists_.start) - 1 + place_.back();
    const Index of_scale = H.front().rows() * columns * static_cast<Index>(sizeof(Real));
    const Index group = std::max<Index>(thread_count(), buffer / std::max<Index>(of_scale, 1));
    std::vector<DenseMatrix<Real>> around(static_cast<std::size_t>(std::min(group, past - first)));
    for (Index begin = first; begin < past; begin += group) {
        const Index end = std::min(past, begin + group);
        exchange(begin, end, H, around, processes);
        parallel_for(end - begin, [&](Index i) {
            const Index t = begin + i;
            ListWeights weights = weigh_prefixes(lists_, EdgeWeight(epsilon_[t], alpha_));
            products[t].HA = times_lists(lists_, weights, around[i]);
            products[t].degree = weights.facts.degrees.template cast<Real>();
        });
    }
}

template <class Real>
void OuterNeighbors::exchange(Index first, Index past, const std::vector<DenseMatrix<Real>>& H,
                              std::vector<DenseMatrix<Real>>& around, Processes& processes) const {
    const Index d = H.front().rows();
    const Index cells = H.front().cols();
    std::vector<DenseMatrix<Real>> sent(out_.size());
    std::vector<Processes::Outgoing> sends;
    std::vector<Processes::Incoming> receives;
    parallel_for(past - first, [&](Index i) { // columns that no edge of the scale reaches are never read
        around[i].resize(d, cells + place_.back());
        around[i].leftCols(cells) = H[first + i];
    });
    parallel_for(processes.count(), [&](Index r) {
        Index count = 0;
        for (Index t = first; t < past; ++t) {
            count += count_below(out_[r], epsilon_[t]);
        }
        sent[r].resize(d, count);
        Index column = 0;
        for (Index t = first; t < past; ++t) {
            const Index last = count_below(out_[r], epsilon_[t]);
            for (Index i = 0; i < last; ++i) {
                sent[r].col(column++) = H[t].col(out_[r][i].cell - first_cell_);
            }
        }
    });
    const auto numbers = [&](Index count) { return static_cast<std::size_t>(d * count); };
    for (int r = 0; r < processes.count(); ++r) {
        Index column = 0;
        for (Index t = first; t < past; ++t) {
            const Index out = count_below(out_[r], epsilon_[t]);
            const Index in = count_below(in_[r], epsilon_[t]);
            if (out > 0) {
                const Real* const from = sent[r].data() + d * column;
                sends.push_back({r, std::as_bytes(std::span(from, numbers(out)))});
                column += out;
            }
            if (in > 0) { // where products look for them
                Real* const to = around[t - first].data() + d * (cells + place_[r]);
                receives.push_back({r, std::as_writable_bytes(std::span(to, numbers(in)))});
            }
        }
    }
    processes.exchange(sends, receives);
}

template <class Real>
void OuterNeighbors::share(Index t, DenseMatrix<Real>& H, Processes& processes) const {
    const Index d = H.rows();
    std::vector<DenseMatrix<Real>> leaving(out_.size());
    std::vector<DenseMatrix<Real>> arriving(in_.size());
    parallel_for(processes.count(), [&](Index r) {
        leaving[r].resize(d, count_below(out_[r], epsilon_[t]));
        arriving[r].resize(d, count_below(in_[r], epsilon_[t]));
        for (Index i = 0; i < leaving[r].cols(); ++i) {
            leaving[r].col(i) = H.col(out_[r][i].cell);
        }
    });
    const auto numbers = [](auto& columns) {
        return std::span(columns.data(), static_cast<std::size_t>(columns.size()));
    };
    exchange_parts<Real>(
        processes, [&](int r) { return numbers(leaving[r]); }, [&](int r) { return numbers(arriving[r]); });
    parallel_for(processes.count(), [&](Index r) {
        for (Index i = 0; i < arriving[r].cols(); ++i) {
            H.col(in_[r][i].cell) = arriving[r].col(i);
        }
    });
}

template void OuterNeighbors::share(Index, DenseMatrix<float>&, Processes&) const;
template void OuterNeighbors::share(Index, DenseMatrix<double>&, Processes&) const;
template void OuterNeighbors::products(Index, Index, const std::vector<DenseMatrix<float>>&,
                                       std::vector<ScaleProducts<float>>&, Processes&) const;
template void OuterNeighbors::products(Index, Index, const std::vector<DenseMatrix<double>>&,
                                       std::vector<ScaleProducts<double>>&, Processes&) const;

} // namespace pnmf
