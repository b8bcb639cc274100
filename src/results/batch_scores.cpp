#include <pnmf/results/score_result.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pnmf {
namespace {

using Json = nlohmann::ordered_json;

/// Without names that no cell has any more.
bool has_two(const std::vector<Index>& batch) {
    return std::any_of(batch.begin(), batch.end(), [&](Index b) { return b != batch.front(); });
}

Matrix unit_columns(const Matrix& H) {
    return H.array().rowwise() / H.colwise().norm().cwiseMax(std::numeric_limits<double>::min()).array();
}

/// 1/Σp² of counts: how many batches there are, by their shares.
double effective_number(const Vector& counts) {
    const double total = counts.sum();
    return total * total / counts.squaredNorm();
}

} // namespace

double mixing_of_groups(const std::vector<Index>& group, const std::vector<Index>& batch) {
    Matrix counts = Matrix::Zero(1 + *std::max_element(batch.begin(), batch.end()),
                                 1 + *std::max_element(group.begin(), group.end()));
    for (std::size_t j = 0; j < batch.size(); ++j) {
        counts(batch[j], group[j]) += 1.0;
    }
    double mean = 0.0;
    for (Index g = 0; g < counts.cols(); ++g) {
        const double cells = counts.col(g).sum();
        mean += cells > 0.0 ? cells * effective_number(counts.col(g)) : 0.0;
    }
    mean /= static_cast<double>(batch.size());
    return (mean - 1.0) / (effective_number(counts.rowwise().sum()) - 1.0);
}

std::optional<BatchScores> batch_scores(const StoredResult& result, const std::vector<Index>& labels) {
    if (!result.batches || result.cells() < 2) {
        return std::nullopt;
    }
    BatchScores scores{.batches = *result.batches};
    scores.batches.of_cell = result.in_order(result.batches->of_cell);
    const std::vector<Index>& batch = scores.batches.of_cell;
    if (!has_two(batch)) {
        return std::nullopt;
    }
    if (result.space) {
        const Matrix& all = result.space->coordinates;
        const Matrix here =
            result.order.position.empty() ? all : Matrix(all(Eigen::all, result.order.position));
        scores.before = neighborhood_scores(Points(here, result.options().filtration.metric), batch, labels);
    }
    scores.after = neighborhood_scores(Points(unit_columns(result.H(result.recommended))), batch, labels);
    const std::vector<Index> clusters = result.clusters(result.recommended);
    scores.clusters =
        clusters.empty() ? std::numeric_limits<double>::quiet_NaN() : mixing_of_groups(clusters, batch);
    return scores;
}

std::string to_json(const BatchScores& scores) {
    Json json;
    json["column"] = scores.batches.column;
    const std::vector<Index> cells = scores.batches.cells();
    for (std::size_t b = 0; b < cells.size(); ++b) {
        json["batches"].push_back({{"name", scores.batches.names[b]}, {"cells", cells[b]}});
    }
    const NeighborhoodScores before = scores.before.value_or(NeighborhoodScores{});
    json["mixing_before"] = before.mixing; // where there is none, NaN: null in JSON
    json["mixing"] = scores.after.mixing;
    json["mixing_of_clusters"] = scores.clusters;
    if (!std::isnan(scores.after.purity)) {
        json["label_purity_before"] = before.purity;
        json["label_purity"] = scores.after.purity;
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace pnmf
