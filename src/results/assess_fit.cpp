#include <pnmf/graphs/sparse_graph.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/results/assess_fit.hpp>

namespace pnmf {

template <class Real>
Assessment assess_fit(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                      const AssessOptions& asked) {
    const bool has_scales = prepared.tree.has_value();
    AssessOptions options = asked;
    if (const auto* graph = dynamic_cast<const SparseMultiscaleGraph*>(prepared.graph.get())) {
        options.graph = &graph->lists();
    }
    return assess_scales(
        result.scales.size(), [&](Index t) { return Matrix(result.factors.H[t].template cast<double>()); },
        has_scales ? result.scales.epsilon : std::vector<double>{},
        has_scales ? h0_diagram(*prepared.tree).deaths : std::vector<double>{}, options);
}

template Assessment assess_fit(const PreparedFit<float>&, const FitResult<float>&, const AssessOptions&);
template Assessment assess_fit(const PreparedFit<double>&, const FitResult<double>&, const AssessOptions&);

} // namespace pnmf
