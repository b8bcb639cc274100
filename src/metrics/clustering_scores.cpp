#include <pnmf/metrics/clustering_scores.hpp>

#include "missing.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>

namespace pnmf {
namespace {

template <class Name>
std::vector<Index> number_by_appearance(const std::vector<Name>& names) {
    std::unordered_map<Name, Index> number;
    std::vector<Index> result;
    result.reserve(names.size());
    for (const Name& name : names) {
        result.push_back(number.try_emplace(name, static_cast<Index>(number.size())).first->second);
    }
    return result;
}

std::vector<Index> sizes(const std::vector<Index>& numbered) {
    std::vector<Index> result(
        static_cast<std::size_t>(*std::max_element(numbered.begin(), numbered.end())) + 1, 0);
    for (const Index label : numbered) {
        ++result[label];
    }
    return result;
}

/// −Σ p log p over the sizes of the clusters.
double entropy(const std::vector<Index>& counts, Index cells) {
    const auto n = static_cast<double>(cells);
    double sum = 0.0;
    for (const Index count : counts) {
        const double p = static_cast<double>(count) / n;
        sum -= p * std::log(p);
    }
    return sum;
}

/// Σ p_ij log(p_ij / (p_i p_j)).
double mutual_information(const Contingency& table) {
    const auto n = static_cast<double>(table.cells);
    double sum = 0.0;
    for (const auto& [row, col, count] : table.entries) {
        const auto both = static_cast<double>(count);
        const double expected =
            static_cast<double>(table.row_sums[row]) * static_cast<double>(table.col_sums[col]) / n;
        sum += both / n * std::log(both / expected);
    }
    return std::max(0.0, sum);
}

/// What one pair of clusters of sizes a, b adds to the mutual information on average over random labellings
/// with these sizes: E[k/n log(nk/(ab))], k hypergeometric. The weights run up and down from the mode by the
/// ratio of neighbours, so that nothing overflows and no factorial is needed.
double expected_information(Index a, Index b, Index n) {
    const Index least = std::max<Index>(0, a + b - n);
    const Index most = std::min(a, b);
    const auto to_real = [](Index i) { return static_cast<double>(i); };
    const Index mode = std::clamp<Index>((a + 1) * (b + 1) / (n + 2), least, most);
    double total = 0.0;
    double weighted = 0.0;
    const auto add = [&](Index k, double weight) {
        total += weight;
        if (k > 0) {
            weighted += weight * to_real(k) / to_real(n) *
                        std::log(to_real(n) * to_real(k) / (to_real(a) * to_real(b)));
        }
    };
    double weight = 1.0;
    for (Index k = mode; k <= most && weight > 0.0; ++k) {
        add(k, weight);
        weight *= to_real(a - k) * to_real(b - k) / (to_real(k + 1) * to_real(n - a - b + k + 1));
    }
    weight = 1.0;
    for (Index k = mode; k > least && weight > 0.0; --k) {
        weight *= to_real(k) * to_real(n - a - b + k) / (to_real(a - k + 1) * to_real(b - k + 1));
        add(k - 1, weight);
    }
    return weighted / total;
}

double expected_mutual_information(const Contingency& table) {
    std::map<Index, Index> row_sizes;
    std::map<Index, Index> col_sizes;
    for (const Index a : table.row_sums) {
        ++row_sizes[a];
    }
    for (const Index b : table.col_sums) {
        ++col_sizes[b];
    }
    double sum = 0.0;
    for (const auto& [a, rows] : row_sizes) {
        for (const auto& [b, cols] : col_sizes) {
            sum += static_cast<double>(rows) * static_cast<double>(cols) *
                   expected_information(a, b, table.cells);
        }
    }
    return sum;
}

/// The two labellings split the cells alike.
bool same_partition(const Contingency& table) {
    return table.entries.size() == table.row_sums.size() && table.entries.size() == table.col_sums.size();
}

double pairs(Index count) {
    return static_cast<double>(count) * static_cast<double>(count - 1) / 2.0;
}

} // namespace

std::vector<Index> relabel(const std::vector<std::string>& names) {
    std::vector<std::string> known;
    std::remove_copy_if(names.begin(), names.end(), std::back_inserter(known), is_missing);
    const std::vector<Index> numbers = number_by_appearance(known);
    std::vector<Index> result;
    result.reserve(names.size());
    auto next = numbers.begin();
    for (const std::string& name : names) {
        result.push_back(is_missing(name) ? unlabelled : *next++);
    }
    return result;
}

std::vector<Index> relabel(const std::vector<Index>& labels) {
    return number_by_appearance(labels);
}

Contingency contingency(const std::vector<Index>& labels, const std::vector<Index>& clusters) {
    require(labels.size() == clusters.size(), "{} labels cannot be compared with {} clusters' cells",
            labels.size(), clusters.size());
    std::vector<Index> row;
    std::vector<Index> col;
    for (std::size_t j = 0; j < labels.size(); ++j) {
        if (labels[j] != unlabelled && clusters[j] != unlabelled) {
            row.push_back(labels[j]);
            col.push_back(clusters[j]);
        }
    }
    require(!row.empty(), "a clustering score needs at least one cell with a label");
    row = relabel(row);
    col = relabel(col);
    std::map<std::pair<Index, Index>, Index> counts;
    for (std::size_t j = 0; j < row.size(); ++j) {
        ++counts[{row[j], col[j]}];
    }
    Contingency table{
        .entries = {}, .row_sums = sizes(row), .col_sums = sizes(col), .cells = std::ssize(row)};
    table.entries.reserve(counts.size());
    for (const auto& [place, count] : counts) {
        table.entries.push_back({place.first, place.second, count});
    }
    return table;
}

double adjusted_rand_index(const std::vector<Index>& labels, const std::vector<Index>& clusters) {
    const Contingency table = contingency(labels, clusters);
    if (same_partition(table)) {
        return 1.0;
    }
    double together = 0.0;
    double in_rows = 0.0;
    double in_cols = 0.0;
    for (const auto& entry : table.entries) {
        together += pairs(entry.count);
    }
    for (const Index a : table.row_sums) {
        in_rows += pairs(a);
    }
    for (const Index b : table.col_sums) {
        in_cols += pairs(b);
    }
    const double expected = in_rows * in_cols / pairs(table.cells);
    return (together - expected) / ((in_rows + in_cols) / 2.0 - expected);
}

double normalized_mutual_information(const std::vector<Index>& labels, const std::vector<Index>& clusters) {
    const Contingency table = contingency(labels, clusters);
    if (same_partition(table)) {
        return 1.0;
    }
    const double mean_entropy =
        (entropy(table.row_sums, table.cells) + entropy(table.col_sums, table.cells)) / 2.0;
    return mutual_information(table) / mean_entropy;
}

double adjusted_mutual_information(const std::vector<Index>& labels, const std::vector<Index>& clusters) {
    const Contingency table = contingency(labels, clusters);
    if (same_partition(table)) {
        return 1.0;
    }
    const double mean_entropy =
        (entropy(table.row_sums, table.cells) + entropy(table.col_sums, table.cells)) / 2.0;
    const double expected = expected_mutual_information(table);
    return (mutual_information(table) - expected) / (mean_entropy - expected);
}

double purity(const std::vector<Index>& labels, const std::vector<Index>& clusters) {
    const Contingency table = contingency(labels, clusters);
    std::vector<Index> largest(table.col_sums.size(), 0);
    for (const auto& entry : table.entries) {
        largest[entry.col] = std::max(largest[entry.col], entry.count);
    }
    Index sum = 0;
    for (const Index count : largest) {
        sum += count;
    }
    return static_cast<double>(sum) / static_cast<double>(table.cells);
}

double accuracy(const std::vector<Index>& labels, const std::vector<Index>& clusters) {
    const Contingency table = contingency(labels, clusters);
    const bool tall = table.row_sums.size() > table.col_sums.size();
    const Index rows = std::ssize(tall ? table.col_sums : table.row_sums);
    const Index cols = std::ssize(tall ? table.row_sums : table.col_sums);
    Matrix cost = Matrix::Zero(rows, cols);
    for (const auto& entry : table.entries) {
        cost(tall ? entry.col : entry.row, tall ? entry.row : entry.col) = -static_cast<double>(entry.count);
    }
    const std::vector<Index> match = optimal_assignment(cost);
    double sum = 0.0;
    for (Index i = 0; i < rows; ++i) {
        sum -= cost(i, match[i]);
    }
    return sum / static_cast<double>(table.cells);
}

} // namespace pnmf
