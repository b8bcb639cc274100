#include "cells/cell_sums.hpp"
#include "cells/linalg/column_move.hpp"
#include "cells/linalg/over_all_cells.hpp"
#include "graphs/sparse_graph.hpp"
#include "graphs/tree_order.hpp"
#include "linalg/parallel_copy.hpp"
#include "solvers/device.hpp"

#include <pnmf/persistence/diagram.hpp>
#include <pnmf/run/run.hpp>

#include <type_traits>

namespace pnmf {
namespace {

/// Below, k-means has ended on the CPU before a device has begun.
constexpr Index cells_for_device = 20000;

template <class Real>
GenePrograms programs_of(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                         const Assessment& assessment) {
    const Index scale = assessment.recommended;
    const Factors<Real>& factors = result.factors;
    const auto basis = [&factors](Index t) {
        DenseMatrix<Real> buffer;
        return Matrix(factors.basis(t, buffer).template cast<double>());
    };
    GenePrograms programs;
    DenseMatrix<Real> buffer;
    const Matrix usages = program_usages(
        basis(scale),
        converted<double>(cells_of_all(*prepared.X, factors.H[static_cast<std::size_t>(scale)], buffer)));
    buffer.resize(0, 0);
    programs.mean_usage = sum_of_cells(usages) / static_cast<double>(usages.cols());
    programs.between_clusters =
        variance_between(usages, assessment.clusters[static_cast<std::size_t>(scale)]);
    programs.scores =
        program_scores(*prepared.X, prepared.order.empty() ? usages : ColumnMove(prepared.order, {})(usages))
            .template cast<float>();
    const bool weighted = std::ssize(result.scales.weight) == factors.scales();
    programs.paths =
        follow_programs(factors.scales(), basis, scale,
                        weighted ? result.scales.weight
                                 : std::vector<double>(static_cast<std::size_t>(factors.scales()), 1.0));
    return programs;
}

/// With all cells, wherever they are.
template <class Real>
Embeddings embeddings_of(const DataMatrix<Real>& X, const std::vector<DenseMatrix<Real>>& H) {
    if (X.has_all_cells()) {
        return [&H](Index t) { return converted<double>(H[static_cast<std::size_t>(t)]); };
    }
    // Numbers travel as they are: in single precision that is half of the bytes.
    const auto gather = [&X, &H](Index t, int only) {
        DenseMatrix<Real> all = gather_cells(X, H[static_cast<std::size_t>(t)], only);
        if constexpr (std::is_same_v<Real, double>) {
            return all;
        } else {
            return converted<double>(all);
        }
    };
    return Embeddings(
        LocalEmbeddings{.cells = X.local(),
                        .here = [&H](Index t) { return converted<double>(H[static_cast<std::size_t>(t)]); },
                        .on_one = [gather](Index t, int process) { return gather(t, process); }});
}

} // namespace

template <class Real>
Assessment assess_fit(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                      const AssessOptions& asked) {
    const bool has_scales = prepared.tree.has_value();
    AssessOptions options = asked;
    if (!options.kmeans && prepared.X->cells() >= cells_for_device) {
        const DeviceRow* const row =
            find_device(prepared.options.solver.device); // none: a baseline left it open
        options.kmeans = row != nullptr ? row->kmeans : nullptr;
    }
    NeighborLists lists; // in the order of the data
    const auto* graph = dynamic_cast<const SparseMultiscaleGraph*>(prepared.graph.get());
    if (graph != nullptr && options.graph == nullptr) {
        if (!prepared.order.empty()) {
            lists = renumbered(graph->lists(), inverse(prepared.order));
        }
        options.graph = prepared.order.empty() ? &graph->lists() : &lists;
    }
    Assessment assessment =
        assess_scales(result.scales.size(), embeddings_of(*prepared.X, result.factors.H),
                      has_scales ? result.scales.epsilon : std::vector<double>{},
                      has_scales ? h0_diagram(*prepared.tree).deaths : std::vector<double>{}, options);
    assessment.programs = programs_of(prepared, result, assessment);
    return assessment;
}

template Assessment assess_fit(const PreparedFit<float>&, const FitResult<float>&, const AssessOptions&);
template Assessment assess_fit(const PreparedFit<double>&, const FitResult<double>&, const AssessOptions&);

} // namespace pnmf
