#include "backends/cpu/cpu_chain.hpp"
#include "solvers/multiplicative.hpp"

namespace pnmf {
namespace {

template <class Real>
class CpuChain final : public Chain<Real> {
  public:
    explicit CpuChain(const Problem<Real>& problem)
        : problem_(problem), squared_norm_X_(problem.X->squared_norm()) {}

    Index fit(Index t, double tolerance, Index limit, Pair<Real>& pair) override {
        const auto graph = problem_.graph->at(problem_.epsilon[static_cast<std::size_t>(t)]);
        return fit_graph_regularized(*problem_.X, squared_norm_X_, *graph, problem_.penalty.graph, pair,
                                     tolerance, limit);
    }

  private:
    const Problem<Real>& problem_;
    double squared_norm_X_;
};

} // namespace

template <class Real>
std::unique_ptr<Chain<Real>> make_cpu_chain(const Problem<Real>& problem) {
    return std::make_unique<CpuChain<Real>>(problem);
}

template std::unique_ptr<Chain<float>> make_cpu_chain(const Problem<float>&);
template std::unique_ptr<Chain<double>> make_cpu_chain(const Problem<double>&);

} // namespace pnmf
