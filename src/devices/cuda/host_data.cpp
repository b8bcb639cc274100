#include "devices/cuda/host_data.hpp"
#include "graphs/dense_graph.hpp"
#include "graphs/fixed_graph.hpp"
#include "graphs/sparse_graph.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>

#include <cmath>

namespace pnmf::cuda {
namespace {

template <class Real>
void take_epsilons(double alpha, const std::vector<double>& epsilons, DeviceGraph<Real>& graph) {
    std::vector<double> negative_rate;
    for (const double epsilon : epsilons) {
        negative_rate.push_back(-1.0 / std::pow(epsilon, alpha)); // as `EdgeWeight` has it
    }
    graph.take_scales(epsilons, negative_rate);
}

[[noreturn]] void refuse_graph() {
    fail("the CUDA device knows graphs of neighbours, of all pairs and with given weights, and no others");
}

} // namespace

template <class Real>
void take_data(const DataMatrix<Real>& X, DeviceData<Real>& data) {
    if (!X.is_sparse()) {
        data.take_dense(X.dense().data(), X.features(), X.dense().cols()); // those of this process
        return;
    }
    const SparseView<Real> columns = X.columns();
    const SparseView<Real> rows = X.rows();
    data.take_sparse({columns.start, columns.row, columns.value}, {rows.start, rows.row, rows.value});
}

template <class Real>
void take_graph(const Problem<Real>& problem, DeviceGraph<Real>& graph) {
    const MultiscaleGraph* const from = problem.graph;
    if (const auto* lists = dynamic_cast<const SparseMultiscaleGraph*>(from)) {
        graph.take_lists(lists->lists().start, lists->lists().cell, lists->lists().length, {});
    } else if (const auto* table = dynamic_cast<const DenseMultiscaleGraph*>(from)) {
        graph.take_table(table->distances().data(), table->cells(), 0, table->cells());
    } else if (const auto* fixed = dynamic_cast<const FixedGraph*>(from)) {
        const SparseView<double> weights = fixed->weights();
        graph.take_lists(weights.start, weights.row, {}, weights.value);
    } else {
        refuse_graph();
    }
    take_scales(problem, graph);
}

template <class Real>
void take_graph_of_cells(const Problem<Real>& problem, const BlockSlab& slab, DeviceGraph<Real>& graph) {
    const Index first = slab.first_cell();
    const Index cells = slab.cells();
    if (const auto* table = dynamic_cast<const DenseMultiscaleGraph*>(problem.graph)) {
        const Index all = table->cells();
        graph.take_table(table->distances().data() + first * all, all, first, cells, slab.blocks.size);
    } else if (const auto* fixed = dynamic_cast<const FixedGraph*>(problem.graph)) {
        const SparseView<double> weights = fixed->weights();
        const auto begin = static_cast<std::size_t>(weights.start[first]);
        const auto count = static_cast<std::size_t>(weights.start[first + cells]) - begin;
        std::vector<std::int64_t> start;
        for (Index j = 0; j <= cells; ++j) {
            start.push_back(weights.start[first + j] - weights.start[first]);
        }
        graph.take_lists(start, weights.row.subspan(begin, count), {}, weights.value.subspan(begin, count));
    } else {
        refuse_graph();
    }
}

template <class Real>
void take_scales(const Problem<Real>& problem, DeviceGraph<Real>& graph) {
    take_epsilons(problem.graph->alpha(), problem.epsilon, graph);
}

template <class Real>
void take_scale(const Problem<Real>& problem, Index t, DeviceGraph<Real>& graph) {
    take_epsilons(problem.graph->alpha(), {problem.epsilon[static_cast<std::size_t>(t)]}, graph);
}

double bytes_of_data(std::int64_t nonzeros, bool dense, Index features, Index cells, Index bytes_of_number) {
    const auto entries = static_cast<double>(nonzeros);
    const auto bytes = static_cast<double>(bytes_of_number);
    return dense ? entries * bytes
                 : 2.0 * entries * (bytes + 4.0) + 8.0 * static_cast<double>(features + cells + 2);
}

double bytes_of_graph(std::int64_t entries, bool table, Index cells, Index bytes_of_number) {
    const auto count = static_cast<double>(entries);
    return table ? count * (8.0 + static_cast<double>(bytes_of_number))
                 : count * 12.0 + 8.0 * static_cast<double>(cells + 1);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void take_data(const DataMatrix<Real>&, DeviceData<Real>&);                                     \
    template void take_graph(const Problem<Real>&, DeviceGraph<Real>&);                                      \
    template void take_graph_of_cells(const Problem<Real>&, const BlockSlab&, DeviceGraph<Real>&);           \
    template void take_scales(const Problem<Real>&, DeviceGraph<Real>&);                                     \
    template void take_scale(const Problem<Real>&, Index, DeviceGraph<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
