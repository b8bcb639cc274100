#include "devices/cpu/sweep_sums.hpp"
#include "cells/devices/columns_of.hpp"
#include "cells/devices/own_points.hpp"
#include "cells/node_sums.hpp"
#include "graphs/scale_forms.hpp"
#include "graphs/sparse_graph.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace pnmf {

template <class Real>
SweepSums<Real>::SweepSums(const Problem<Real>& problem, const CellBlocks& blocks, Processes& processes)
    : problem_(problem), processes_(processes), shares_(share(blocks, processes.count())),
      slab_(shares_.slab(processes.place())), penalties_(scale_penalties(problem)),
      graphs_(problem.epsilon.size()) {
    keep_graphs({});
    if (alone()) {
        nodes_ = {{0, slab_.past}};
        fit_ = make_fit_term<Real>(problem, {std::shared_ptr<void>{}, problem.X}); // the problem's own
        return;
    }
    const auto nodes = shares_.nodes_of(processes.place());
    nodes_.assign(nodes.begin(), nodes.end());
    fit_ = make_fit_term<Real>(problem, columns_of(*problem.X, slab_));
    if (const auto* lists = dynamic_cast<const SparseMultiscaleGraph*>(problem.graph)) {
        outer_.emplace(*lists, problem.epsilon, shares_, processes.place());
    }
}

template <class Real>
auto SweepSums<Real>::with_data(Index first, Index past, const Factors<Real>& point, Index group) const
    -> Matrices {
    const Index p = problem_.features();
    const Index d = point.rank();
    Matrices result(static_cast<std::size_t>(2 * (past - first)));
    std::optional<NodeSums<Real>> sums;
    if (!alone()) {
        sums.emplace(shares_, processes_, first, past, p * d + d * d, [&](Index t) { return owner(t); });
    }
    parallel_for((past - first + group - 1) / group, [&](Index g) {
        const Index begin = first + g * group;
        const Index count = std::min(group, past - begin);
        for (Index i = 0; i < std::ssize(nodes_); ++i) {
            const ScalesOfProduct<Real> XHt = fit_->times_transposed(point, begin, count, slab_, nodes_[i]);
            parallel_for(count, [&](Index t) {
                DenseMatrix<Real> HHt = gram_of_rows(point.H[begin + t], slab_, nodes_[i]);
                if (!sums) {
                    result[2 * (begin - first + t)] = XHt[t];
                    result[2 * (begin - first + t) + 1] = std::move(HHt);
                    return;
                }
                Real* const numbers = sums->mine(begin + t, i);
                Eigen::Map<DenseMatrix<Real>>(numbers, p, d) = XHt[t];
                Eigen::Map<DenseMatrix<Real>>(numbers + p * d, d, d) = HHt;
            });
        }
    });
    if (!sums) {
        return result;
    }
    sums->exchange();
    parallel_for(past - first, [&](Index i) {
        if (moves_basis(first + i)) {
            const Real* const numbers = sums->total(first + i);
            result[2 * i] = Eigen::Map<const DenseMatrix<Real>>(numbers, p, d);
            result[2 * i + 1] = Eigen::Map<const DenseMatrix<Real>>(numbers + p * d, d, d);
        }
    });
    return result;
}

template <class Real>
void SweepSums<Real>::share_bases(Index first, Index past, Matrices& W, Products& products,
                                  std::vector<Movement>& moved) const {
    if (alone()) {
        return;
    }
    const auto numbers = [](DenseMatrix<Real>& matrix) {
        return std::span<Real>(matrix.data(), static_cast<std::size_t>(matrix.size()));
    };
    FromOwners shared(processes_);
    for (Index t = first; t < past; ++t) {
        products[t].WtW.resize(W[t].cols(), W[t].cols());
        shared.add(owner(t), numbers(W[t]));
        shared.add(owner(t), numbers(products[t].WtW));
        shared.add(owner(t), std::span(&moved[t], 1));
    }
    shared.exchange();
}

template <class Real>
void SweepSums<Real>::share_movements(Index first, std::span<Movement> moved) const {
    FromOwners shared(processes_);
    for (std::size_t i = 0; i < moved.size(); ++i) {
        shared.add(owner(first + static_cast<Index>(i)), moved.subspan(i, 1));
    }
    shared.exchange();
}

template <class Real>
void SweepSums<Real>::keep_graphs(const FrozenScales& frozen) {
    const Index moving = problem_.scales() - std::count(frozen.begin(), frozen.end(), char{1});
    may_keep_ = alone() && moving <= graphs_kept(problem_.cells());
    for (Index t = 0; t < problem_.scales(); ++t) {
        if (is_frozen(frozen, t)) {
            graphs_[t] = nullptr;
        }
    }
}

template <class Real>
auto SweepSums<Real>::graph_at(Index t) -> Graph {
    if (graphs_[t]) {
        return graphs_[t];
    }
    Graph graph = problem_.graph->at(problem_.epsilon[t]);
    if (may_keep_) {
        graphs_[t] = graph;
    }
    return graph;
}

template <class Real>
void SweepSums<Real>::with_graph(Index first, Index past, const Matrices& H, Products& products) {
    if (outer_) {
        outer_->products(first, past, H, products, processes_);
        return;
    }
    const auto* neighbors = dynamic_cast<const SparseMultiscaleGraph*>(problem_.graph);
    for (Index t = first; t < past; ++t) {
        if (neighbors != nullptr) {
            multiply_lists(neighbors->lists(), EdgeWeight(problem_.epsilon[t], neighbors->alpha()), H[t], 0,
                           problem_.cells(), products[t].HA, products[t].degree);
            continue;
        }
        const auto graph = graph_at(t);
        if (alone()) {
            products[t].HA = graph->times_adjacency(H[t]);
            products[t].degree = graph->degrees().template cast<Real>();
            continue;
        }
        // Of a graph of all pairs every cell needs every other.
        products[t].HA = graph->times_adjacency(all_columns(shares_, processes_, H[t]))
                             .middleCols(slab_.first_cell(), slab_.cells());
        products[t].degree =
            graph->degrees().segment(slab_.first_cell(), slab_.cells()).template cast<Real>();
    }
}

/// The first process adds up and tells the others, so that all decide alike.
template <class Real>
std::vector<Objective> SweepSums<Real>::terms(Index first, Index past, const Products& products,
                                              const Matrices& H) const {
    const Index d = H.front().rows();
    std::vector<Objective> terms(static_cast<std::size_t>(past - first));
    const auto sums_of = [&](Index t, const BlockNode& node) {
        return term_sums(products[t], H[t], scale_before(H, t), slab_, node);
    };
    const auto set = [&](Index t, const TermSums<Real>& sums) {
        const double fit = fit_->value(penalties_[t].fit, sums.with_data, products[t].WtW, sums.gram);
        terms[t - first] = objective_from(penalties_[t], fit, sums);
    };
    if (alone()) {
        parallel_for(past - first, [&](Index i) { set(first + i, sums_of(first + i, nodes_.front())); });
        return terms;
    }
    NodeSums<double> sums(shares_, processes_, first, past, 5 + d * d, [](Index) { return 0; });
    parallel_for(past - first, [&](Index i) {
        for (Index node = 0; node < std::ssize(nodes_); ++node) {
            std::vector<double> numbers;
            sums_of(first + i, nodes_[node]).put(numbers);
            std::copy(numbers.begin(), numbers.end(), sums.mine(first + i, node));
        }
    });
    sums.exchange();
    for (Index t = first; processes_.place() == 0 && t < past; ++t) {
        BlockSum<TermSums<Real>> sum;
        for (Index node = 0; node < std::ssize(shares_.nodes); ++node) {
            sum.add(shares_.nodes[node].first, TermSums<Real>::take(sums.part(t, node), d));
        }
        set(t, sum.finish());
    }
    broadcast(processes_, std::span(terms), 0);
    return terms;
}

template <class Real>
std::vector<Movement> SweepSums<Real>::movements(Index first, Index past, const Products& products,
                                                 const Matrices& H) const {
    std::vector<Movement> moved(static_cast<std::size_t>(past - first));
    const auto of_node = [&](Index t, const BlockNode& node) {
        return movement_H(penalties_[t], products[t], H[t], scale_before(H, t), scale_after(H, t), slab_,
                          node);
    };
    if (alone()) {
        parallel_for(past - first, [&](Index i) { moved[i] = of_node(first + i, nodes_.front()); });
        return moved;
    }
    NodeSums<double> sums(shares_, processes_, first, past, 2, [](Index) { return 0; });
    parallel_for(past - first, [&](Index i) {
        for (Index node = 0; node < std::ssize(nodes_); ++node) {
            const Movement movement = of_node(first + i, nodes_[node]);
            sums.mine(first + i, node)[0] = movement.moved;
            sums.mine(first + i, node)[1] = movement.size;
        }
    });
    sums.exchange();
    for (Index t = first; processes_.place() == 0 && t < past; ++t) {
        const double* const total = sums.total(t);
        moved[t - first] = {total[0], total[1]};
    }
    broadcast(processes_, std::span(moved), 0);
    return moved;
}

template class SweepSums<float>;
template class SweepSums<double>;

} // namespace pnmf
