#include "graphs/scale_forms.hpp"
#include "linalg/arrays_on_disk.hpp"
#include "linalg/gather_columns.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

constexpr Index cells_per_task = 64;
constexpr Index little_work = 1 << 15; // operations that take less than waking the threads

/// `body(begin, end)` over all cells; on one thread where threads would not pay.
void over_cells(Index cells, Index operations, const std::function<void(Index, Index)>& body) {
    if (operations < little_work) {
        body(0, cells);
    } else {
        parallel_blocks(cells, cells_per_task, body);
    }
}

void check_columns(const NeighborLists& lists, Index columns) {
    require(columns == lists.cells(), "H must have a column for each of the {} cells of the graph, got {}",
            lists.cells(), columns);
}

} // namespace

ListWeights weigh_prefixes(const NeighborLists& lists, const EdgeWeight& edge_weight) {
    const Index n = lists.cells();
    ListWeights result;
    result.first.resize(static_cast<std::size_t>(n) + 1);
    result.first[0] = 0;
    over_cells(n, 16 * n, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            const auto from = lists.length.begin() + lists.start[j];
            const auto to = lists.length.begin() + lists.start[j + 1];
            result.first[j + 1] =
                std::partition_point(from, to, [&](double d) { return edge_weight.joins(d); }) - from;
        }
    });
    std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
    const std::int64_t entries = result.first[n];
    result.weight.resize(static_cast<std::size_t>(entries));
    result.facts.degrees.resize(n);
    result.facts.edges = entries / 2;
    over_cells(n, 8 * entries, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            const double* const length = lists.length.data() + lists.start[j];
            double* const weight = result.weight.data() + result.first[j];
            const Index count = result.first[j + 1] - result.first[j];
            double degree = 0.0;
            for (Index r = 0; r < count; ++r) {
                weight[r] = edge_weight.of_edge(length[r]);
                degree += weight[r];
            }
            result.facts.degrees[j] = degree;
        }
    });
    return result;
}

template <class Real>
DenseMatrix<Real> times_lists(const NeighborLists& lists, const ListWeights& weights,
                              const DenseMatrix<Real>& H) {
    return times_lists(lists, weights, H, 0, lists.cells());
}

template <class Real>
DenseMatrix<Real> times_lists(const NeighborLists& lists, const ListWeights& weights,
                              const DenseMatrix<Real>& H, Index first, Index count) {
    DenseMatrix<Real> result(H.rows(), count);
    const Index entries = weights.first[first + count] - weights.first[first];
    over_cells(count, H.rows() * entries, [&](Index begin, Index end) {
        result.middleCols(begin, end - begin).setZero();
        const std::int64_t* const places = weights.first.data() + first; // of the weights of each cell
        thread_local std::vector<Real> weight; // kept from call to call, as in `multiply_lists`
        thread_local std::vector<GatherRun<Real>> runs;
        weight.assign(weights.weight.begin() + places[begin], weights.weight.begin() + places[end]);
        runs.clear();
        for (Index j = begin; j < end; ++j) {
            runs.push_back({lists.cell.data() + lists.start[first + j],
                            weight.data() + (places[j] - places[begin]), places[j + 1] - places[j],
                            result.col(j).data()});
        }
        gather_runs<Real>(H.data(), H.rows(), H.rows(), H.cols(), runs);
    });
    return result;
}

template <class Real>
DenseMatrix<Real> times_adjacency(const MultiscaleGraph::Scale& graph, const DenseMatrix<Real>& H,
                                  Index first, Index count) {
    if (count == H.cols()) {
        return graph.times_adjacency(H);
    }
    if (const auto* lists = dynamic_cast<const ListScale*>(&graph)) {
        check_columns(lists->lists(), H.cols());
        return times_lists(lists->lists(), lists->weights(), H, first, count);
    }
    return graph.times_adjacency(H).middleCols(first, count);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template DenseMatrix<Real> times_lists(const NeighborLists&, const ListWeights&,                         \
                                           const DenseMatrix<Real>&);                                        \
    template DenseMatrix<Real> times_lists(const NeighborLists&, const ListWeights&,                         \
                                           const DenseMatrix<Real>&, Index, Index);                          \
    template DenseMatrix<Real> times_adjacency(const MultiscaleGraph::Scale&, const DenseMatrix<Real>&,      \
                                               Index, Index);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

template <class Real>
void multiply_lists(const NeighborLists& lists, const EdgeWeight& edge_weight, const DenseMatrix<Real>& H,
                    Index first_cell, Index count, DenseMatrix<Real>& HA, DenseVector<Real>& degree) {
    check_columns(lists, H.cols());
    resize_on_disk(HA, H.rows(), count);
    degree.resize(count);
    const std::int64_t* const start = lists.start.data() + first_cell;
    over_cells(count, H.rows() * (start[count] - start[0]), [&](Index begin, Index end) {
        // Kept from call to call: threads that ask for memory all the time wait for each other.
        thread_local std::vector<Real> weight;
        thread_local std::vector<GatherRun<Real>> runs;
        weight.resize(std::max(weight.size(), static_cast<std::size_t>(start[end] - start[begin])));
        runs.clear();
        Real* next = weight.data();
        for (Index j = begin; j < end; ++j) {
            const Real* const first = next;
            double sum = 0.0;
            for (auto e = start[j]; e < start[j + 1] && edge_weight.joins(lists.length[e]); ++e) {
                const double one = edge_weight.of_edge(lists.length[e]);
                *next++ = static_cast<Real>(one);
                sum += one;
            }
            degree[j] = static_cast<Real>(sum);
            runs.push_back({lists.cell.data() + start[j], first, next - first, HA.col(j).data()});
        }
        HA.middleCols(begin, end - begin).setZero();
        gather_runs<Real>(H.data(), H.rows(), H.rows(), H.cols(), runs);
    });
}

template void multiply_lists(const NeighborLists&, const EdgeWeight&, const Matrix&, Index, Index, Matrix&,
                             Vector&);
template void multiply_lists(const NeighborLists&, const EdgeWeight&, const DenseMatrix<float>&, Index, Index,
                             DenseMatrix<float>&, DenseVector<float>&);

ListScale::ListScale(std::shared_ptr<const NeighborLists> lists, std::shared_ptr<const ListWeights> weights)
    : lists_(std::move(lists)), weights_(std::move(weights)) {}

Matrix ListScale::times_adjacency(const Matrix& H) const {
    check_columns(*lists_, H.cols());
    return times_lists(*lists_, *weights_, H);
}

DenseMatrix<float> ListScale::times_adjacency(const DenseMatrix<float>& H) const {
    check_columns(*lists_, H.cols());
    return times_lists(*lists_, *weights_, H);
}

Matrix ListScale::adjacency() const {
    const Index n = lists_->cells();
    Matrix result = Matrix::Zero(n, n);
    for (Index j = 0; j < n; ++j) {
        const Index count = weights_->first[j + 1] - weights_->first[j];
        for (Index r = 0; r < count; ++r) {
            result(lists_->cell[lists_->start[j] + r], j) = weights_->weight[weights_->first[j] + r];
        }
    }
    return result;
}

} // namespace pnmf
