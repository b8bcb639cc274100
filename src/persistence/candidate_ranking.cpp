#include "persistence/candidate_ranking.hpp"

#include <algorithm>

namespace pnmf {

CandidateRanking::CandidateRanking(const Points& points) : points_(points) {
    if (!points.is_sparse()) {
        return;
    }
    const SparseView<double> X = points.columns();
    squared_norms_.resize(X.cols);
    for (Index j = 0; j < X.cols; ++j) {
        squared_norms_[j] =
            Eigen::Map<const Vector>(X.value.data() + X.start[j], X.start[j + 1] - X.start[j]).squaredNorm();
    }
}

std::vector<CandidateRanking::Choice>
CandidateRanking::choose(Index cell, std::span<const std::int32_t> candidates, Index k) const {
    thread_local std::vector<CellAtDistance> keys; // asked for once for all cells of a thread
    keys.clear();
    if (points_.is_sparse()) {
        order_by_products(cell, candidates, keys);
    } else {
        for (const Index other : candidates) {
            keys.emplace_back(points_.distance(cell, other), other);
        }
    }
    keep_nearest(keys, choices(k));
    std::vector<Choice> result;
    result.reserve(keys.size());
    for (const auto& [key, other] : keys) {
        result.push_back({key, points_.is_sparse() ? points_.distance(cell, other) : key, other});
    }
    return result;
}

std::vector<CellAtDistance> CandidateRanking::nearest(Index cell, std::span<const std::int32_t> candidates,
                                                      Index k) const {
    std::vector<CellAtDistance> result;
    result.reserve(static_cast<std::size_t>(choices(k)));
    for (const Choice& choice : choose(cell, candidates, k)) {
        result.emplace_back(choice.distance, choice.cell);
    }
    keep_nearest(result, k);
    result.shrink_to_fit(); // one such list is kept for every cell
    return result;
}

void CandidateRanking::order_by_products(Index cell, std::span<const std::int32_t> candidates,
                                         std::vector<CellAtDistance>& result) const {
    const SparseView<double> X = points_.columns();
    thread_local std::vector<double> written; // zero outside this function
    written.resize(std::max(written.size(), static_cast<std::size_t>(X.rows)), 0.0);
    for (auto e = X.start[cell]; e < X.start[cell + 1]; ++e) {
        written[X.row[e]] = X.value[e];
    }
    for (const Index other : candidates) {
        double product = 0.0;
        for (auto e = X.start[other]; e < X.start[other + 1]; ++e) {
            product += X.value[e] * written[X.row[e]];
        }
        result.emplace_back(squared_norms_[other] - 2.0 * product, other);
    }
    for (auto e = X.start[cell]; e < X.start[cell + 1]; ++e) {
        written[X.row[e]] = 0.0;
    }
}

} // namespace pnmf
