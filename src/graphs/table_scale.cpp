#include "graphs/scale_forms.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

constexpr Index tile = 64;          // 32 KiB of weights, so that a tile and its mirror image stay in cache
constexpr Index panel = 128;        // columns of one product
constexpr Index rows_of_sum = 1024; // degrees that one task adds up

/// Weights of rows [begin, end) of one column; pairs that are not joined get 0. Returns the number joined.
/// First picks the pairs without a branch: in tiles where about half are joined, guessing wrong costs more.
Index weigh_column(const double* distance, Index begin, Index end, const EdgeWeight& edge_weight,
                   double* weight) {
    std::array<std::int32_t, tile> joined; // NOLINT: filled as far as it is read
    Index count = 0;
    for (Index i = begin; i < end; ++i) {
        joined[count] = static_cast<std::int32_t>(i);
        count += edge_weight.joins(distance[i]) ? 1 : 0;
        weight[i] = 0.0;
    }
    for (Index r = 0; r < count; ++r) {
        weight[joined[r]] = edge_weight.of_edge(distance[joined[r]]);
    }
    return count;
}

} // namespace

Matrix TablePool::take(Index n) {
    {
        const std::lock_guard lock(mutex_);
        if (!unused_.empty()) {
            Matrix table = std::move(unused_.back());
            unused_.pop_back();
            return table;
        }
    }
    return Matrix(n, n);
}

void TablePool::give_back(Matrix table) {
    const std::lock_guard lock(mutex_);
    unused_.push_back(std::move(table));
}

void weigh_table(const Matrix& distances, const EdgeWeight& edge_weight, Matrix& A, ScaleFacts& facts) {
    const Index n = distances.cols();
    const Index tiles = (n + tile - 1) / tile;
    std::vector<Index> edges(static_cast<std::size_t>(tiles), 0);
    parallel_for(tiles, [&](Index J) {
        const Index first = J * tile;
        const Index columns = std::min(tile, n - first);
        for (Index I = J; I < tiles; ++I) {
            const Index top = I * tile;
            const Index rows = std::min(tile, n - top);
            for (Index j = first; j < first + columns; ++j) {
                const Index begin = std::max(top, j + 1);
                edges[J] +=
                    weigh_column(distances.data() + j * n, begin, top + rows, edge_weight, A.data() + j * n);
            }
            if (I == J) {
                auto block = A.block(top, top, rows, rows);
                block.diagonal().setZero();
                block.triangularView<Eigen::StrictlyUpper>() = block.transpose();
            } else {
                A.block(first, top, columns, rows) = A.block(top, first, rows, columns).transpose();
            }
        }
    });
    facts.edges = std::accumulate(edges.begin(), edges.end(), Index{0});
    facts.degrees.resize(n);
    parallel_blocks(n, rows_of_sum, [&](Index begin, Index end) {
        auto degrees = facts.degrees.segment(begin, end - begin);
        degrees.setZero();
        for (Index j = 0; j < n; ++j) { // each degree is added up in the order of the cells
            degrees += A.col(j).segment(begin, end - begin);
        }
    });
}

TableScale::TableScale(Matrix adjacency, ScaleFacts facts, std::shared_ptr<TablePool> pool)
    : adjacency_(std::move(adjacency)), facts_(std::move(facts)), pool_(std::move(pool)) {}

TableScale::~TableScale() {
    pool_->give_back(std::move(adjacency_));
}

Matrix TableScale::times_adjacency(const Matrix& H) const {
    const Index n = adjacency_.cols();
    require(H.cols() == n, "H must have a column for each of the {} cells of the graph, got {}", n, H.cols());
    Matrix result(H.rows(), n);
    parallel_blocks(n, panel, [&](Index begin, Index end) {
        multiply(H, adjacency_.middleCols(begin, end - begin), result.middleCols(begin, end - begin));
    });
    return result;
}

DenseMatrix<float> TableScale::times_adjacency(const DenseMatrix<float>& H) const {
    const Index n = adjacency_.cols();
    require(H.cols() == n, "H must have a column for each of the {} cells of the graph, got {}", n, H.cols());
    DenseMatrix<float> result(H.rows(), n);
    parallel_blocks(n, panel, [&](Index begin, Index end) {
        const DenseMatrix<float> columns = adjacency_.middleCols(begin, end - begin).cast<float>();
        multiply(H, columns, result.middleCols(begin, end - begin));
    });
    return result;
}

} // namespace pnmf
