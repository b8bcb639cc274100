#include <pnmf/assess/neighborhoods.hpp>

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pnmf {
namespace {

Index count_of(const std::vector<Index>& numbers) {
    return *std::max_element(numbers.begin(), numbers.end()) + 1;
}

void check_numbers(const std::vector<Index>& numbers, Index cells, const char* what, Index first) {
    require(numbers.empty() || std::ssize(numbers) == cells,
            "there must be a {} for each of the {} cells, got {}", what, cells, numbers.size());
    require(std::all_of(numbers.begin(), numbers.end(), [&](Index number) { return number >= first; }),
            "a {} is a number from 0", what);
}

/// The k nearest cells of cell i, without itself; of equal ones the first.
std::vector<Index> nearest_of(const Points& cells, Index i, Index k) {
    Vector distance(cells.count());
    cells.distances_from(i, distance);
    std::vector<Index> order(static_cast<std::size_t>(cells.count()));
    std::iota(order.begin(), order.end(), Index{0});
    order.erase(order.begin() + i);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](Index a, Index b) {
        return distance[a] < distance[b] || (distance[a] == distance[b] && a < b);
    });
    order.resize(static_cast<std::size_t>(k));
    return order;
}

/// 1 / Σ p², how many kinds there are among these cells.
double inverse_simpson(const std::vector<Index>& kind, const std::vector<Index>& cells, Index kinds) {
    Vector count = Vector::Zero(kinds);
    for (const Index cell : cells) {
        count[kind[static_cast<std::size_t>(cell)]] += 1.0;
    }
    return static_cast<double>(cells.size()) * static_cast<double>(cells.size()) / count.squaredNorm();
}

/// The share of the labelled cells among `nearest` that have the label of cell i; NaN where there is none.
double share_alike(const std::vector<Index>& labels, Index i, const std::vector<Index>& nearest) {
    const Index own = labels[static_cast<std::size_t>(i)];
    Index known = 0;
    Index alike = 0;
    for (const Index j : nearest) {
        const Index other = labels[static_cast<std::size_t>(j)];
        known += other == unlabelled ? 0 : 1;
        alike += other == own ? 1 : 0;
    }
    return own == unlabelled || known == 0 ? std::numeric_limits<double>::quiet_NaN()
                                           : static_cast<double>(alike) / static_cast<double>(known);
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

NeighborhoodScores neighborhood_scores(const Points& cells, const std::vector<Index>& batch,
                                       const std::vector<Index>& labels, const NeighborhoodOptions& options) {
    const Index n = cells.count();
    require(n >= 2, "there must be at least 2 cells, got {}", n);
    require(options.neighbors >= 1 && options.cells >= 1,
            "at least 1 neighbour of at least 1 cell must be looked at, got {} of {}", options.neighbors,
            options.cells);
    check_numbers(batch, n, "batch", 0);
    check_numbers(labels, n, "label", unlabelled);
    const Index k = std::min(options.neighbors, n - 1);
    const std::vector<Index> sample = evenly_spaced(options.cells, n);
    std::vector<double> batches(sample.size(), 0.0);
    std::vector<double> same(sample.size(), 0.0);
    const Index kinds = batch.empty() ? 0 : count_of(batch);
    parallel_for(std::ssize(sample), [&](Index s) {
        const Index i = sample[static_cast<std::size_t>(s)];
        const std::vector<Index> nearest = nearest_of(cells, i, k);
        if (!batch.empty()) {
            batches[static_cast<std::size_t>(s)] = inverse_simpson(batch, nearest, kinds);
        }
        if (!labels.empty()) {
            same[static_cast<std::size_t>(s)] = share_alike(labels, i, nearest);
        }
    });
    NeighborhoodScores scores;
    if (!batch.empty()) {
        std::vector<Index> all(static_cast<std::size_t>(n));
        std::iota(all.begin(), all.end(), Index{0});
        const double most = inverse_simpson(batch, all, kinds);
        require(most > 1.0, "all {} cells are of one batch: there is nothing to mix", n);
        scores.mixing = (mean(batches) - 1.0) / (most - 1.0);
    }
    if (std::erase_if(same, [](double share) { return std::isnan(share); });
        !labels.empty() && !same.empty()) {
        scores.purity = mean(same);
    }
    return scores;
}

} // namespace pnmf
