#include "graphs/scale_forms.hpp"
#include "linalg/gather_columns.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <functional>
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
    for (Index j = 0; j < n; ++j) {
        const auto begin = lists.length.begin() + lists.start[j];
        const auto end = lists.length.begin() + lists.start[j + 1];
        const auto past = std::partition_point(begin, end, [&](double d) { return edge_weight.joins(d); });
        result.first[j + 1] = result.first[j] + (past - begin);
    }
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
    const Index n = lists.cells();
    DenseMatrix<Real> result = DenseMatrix<Real>::Zero(H.rows(), n);
    over_cells(n, H.rows() * weights.first[n], [&](Index begin, Index end) {
        std::vector<Real> weight;
        for (Index j = begin; j < end; ++j) {
            weight.assign(weights.weight.begin() + weights.first[j],
                          weights.weight.begin() + weights.first[j + 1]);
            gather_columns(H.data(), H.rows(), H.cols(), lists.cell.data() + lists.start[j], weight.data(),
                           static_cast<Index>(weight.size()), result.col(j).data());
        }
    });
    return result;
}

template Matrix times_lists(const NeighborLists&, const ListWeights&, const Matrix&);
template DenseMatrix<float> times_lists(const NeighborLists&, const ListWeights&, const DenseMatrix<float>&);

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
