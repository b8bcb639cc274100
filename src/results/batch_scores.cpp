#include <pnmf/results/batch_scores.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pnmf {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { // NaN has no number in JSON
    return std::isnan(value) ? Json(nullptr) : Json(value);
}

/// Without names that no cell has any more.
bool has_two(const std::vector<Index>& batch) {
    return std::any_of(batch.begin(), batch.end(), [&](Index b) { return b != batch.front(); });
}

Matrix unit_columns(const Matrix& H) {
    return H.array().rowwise() / H.colwise().norm().cwiseMax(std::numeric_limits<double>::min()).array();
}

} // namespace

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
    json["mixing_before"] = number(before.mixing);
    json["mixing"] = number(scores.after.mixing);
    if (!std::isnan(scores.after.purity)) {
        json["label_purity_before"] = number(before.purity);
        json["label_purity"] = number(scores.after.purity);
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace pnmf
