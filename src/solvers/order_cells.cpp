#include "solvers/order_cells.hpp"

#include "cells/cell_blocks.hpp"
#include "cells/linalg/column_move.hpp"
#include "graphs/tree_order.hpp"

#include "graphs/sparse_graph.hpp"

namespace pnmf {

template <RealNumber Real>
void put_in_order(PreparedFit<Real>& prepared) {
    const auto* graph = dynamic_cast<const SparseMultiscaleGraph*>(prepared.graph.get());
    if (graph == nullptr || prepared.options.solver.algorithm != Algorithm::stationary ||
        usual_blocks(graph->cells()).count() == 1) {
        return;
    }
    prepared.order = tree_order(graph->tree());
    prepared.graph = std::make_unique<SparseMultiscaleGraph>(*graph, prepared.order);
}

template <RealNumber Real>
void put_back(const PreparedFit<Real>& prepared, Factors<Real>& factors) {
    if (prepared.order.empty()) {
        return;
    }
    const std::optional<CellRange> local =
        !prepared.X->has_all_cells() ? std::optional(prepared.X->local()) : std::nullopt;
    const ColumnMove move(inverse(prepared.order), local);
    for (DenseMatrix<Real>& H : factors.H) {
        H = move(H);
    }
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void put_in_order(PreparedFit<Real>&);                                                          \
    template void put_back(const PreparedFit<Real>&, Factors<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
