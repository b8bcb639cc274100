#include "persistence/neighbor_candidates.hpp"
#include "cells/shared_work.hpp"
#include "persistence/shortlist.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <vector>

namespace pnmf {
namespace {

// Sides of the blocks of products: those of one cell stay in the cache while its list is filled.
constexpr Index cells_at_once = 256;
constexpr Index others_at_once = 1024;

} // namespace

NeighborTable::NeighborTable(Index cells, Index k) : neighbors_(k, cells) {}

NeighborTable::NeighborTable(const std::vector<std::vector<CellAtDistance>>& nearest, Index k)
    : NeighborTable(std::ssize(nearest), k) {
    parallel_blocks(std::ssize(nearest), cells_at_once, [&](Index begin, Index end) {
        for (Index cell = begin; cell < end; ++cell) {
            for (Index r = 0; r < k; ++r) {
                neighbors_(r, cell) = static_cast<std::int32_t>(nearest[cell][r].second);
            }
        }
    });
}

void NeighborTable::set(Index cell, std::span<const std::int32_t> neighbors) {
    std::copy(neighbors.begin(), neighbors.end(), neighbors_.col(cell).begin());
}

void NeighborTable::two_steps_from(Index cell, std::vector<std::int32_t>& others) const {
    const auto own = neighbors_.col(cell);
    others.assign(own.begin(), own.end());
    for (const std::int32_t neighbor : own) {
        const auto next = neighbors_.col(neighbor);
        others.insert(others.end(), next.begin(), next.end());
    }
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    std::erase(others, static_cast<std::int32_t>(cell));
}

void visit_screened_candidates(const SearchSpace& space, Index count, const CandidateVisitor& visit) {
    const Index n = space.vectors.cols();
    const DenseMatrix<float> V = space.vectors.topRows(space.dimension);
    // ‖a − b‖² − ‖Qᵀa‖² − ‖r_a‖² = ‖Qᵀb‖² + ‖r_b‖² − 2⟨Qᵀa, Qᵀb⟩: for one cell a these order the others b.
    const Vector own =
        (V.cast<double>().colwise().squaredNorm() + space.vectors.bottomRows<1>().cast<double>()).transpose();
    over_shared_blocks(n, cells_at_once, [&](Index begin, Index end) {
        std::vector<Shortlist> lists(static_cast<std::size_t>(end - begin), Shortlist(count + 1));
        DenseMatrix<float> keys;
        for (Index first = 0; first < n; first += others_at_once) {
            const Index size = std::min(others_at_once, n - first);
            keys.resize(size, end - begin);
            multiply_transposed(V.middleCols(first, size), V.middleCols(begin, end - begin), keys);
            for (Index a = 0; a < end - begin; ++a) {
                keys.col(a) = own.segment(first, size).cast<float>() - 2.0F * keys.col(a);
                lists[a].offer(first, keys.col(a).data(), size);
            }
        }
        std::vector<std::int32_t> candidates;
        for (Index cell = begin; cell < end; ++cell) {
            lists[cell - begin].copy_to(candidates, cell);
            visit(cell, candidates);
        }
    });
}

} // namespace pnmf
