#include "devices/cpu/cpu_chain.hpp"

#include "cells/cell_blocks.hpp"
#include "cells/devices/outer_neighbors.hpp"
#include "solvers/multiplicative.hpp"

#include <functional>
#include <optional>

namespace pnmf {
namespace {

template <class Real>
class CpuChain final : public Chain<Real> {
  public:
    explicit CpuChain(const Problem<Real>& problem)
        : problem_(problem), squared_norm_X_(problem.X->squared_norm()) {
        const auto* const lists = dynamic_cast<const SparseMultiscaleGraph*>(problem.graph);
        if (!problem.X->has_all_cells() && lists != nullptr) {
            Processes& processes = problem.X->processes();
            outer_.emplace(*lists, problem.epsilon, share(usual_blocks(problem.cells()), processes.count()),
                           processes.place());
        }
    }

    Index fit(Index t, double tolerance, Index limit, Pair<Real>& pair) override {
        const auto graph = problem_.graph->at(problem_.epsilon[static_cast<std::size_t>(t)]);
        std::function<void(DenseMatrix<Real>&)> share_neighbors;
        if (outer_) {
            share_neighbors = [this, t](DenseMatrix<Real>& H) {
                outer_->share(t, H, problem_.X->processes());
            };
        }
        return fit_graph_regularized(*problem_.X, squared_norm_X_, *graph, problem_.penalty.graph, pair,
                                     tolerance, limit, {}, share_neighbors);
    }

  private:
    const Problem<Real>& problem_;
    double squared_norm_X_;
    std::optional<OuterNeighbors> outer_; ///< where each process moves some cells
};

} // namespace

template <class Real>
std::unique_ptr<Chain<Real>> make_cpu_chain(const Problem<Real>& problem) {
    return std::make_unique<CpuChain<Real>>(problem);
}

template std::unique_ptr<Chain<float>> make_cpu_chain(const Problem<float>&);
template std::unique_ptr<Chain<double>> make_cpu_chain(const Problem<double>&);

} // namespace pnmf
