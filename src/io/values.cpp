#include "io/divided.hpp"
#include "io/held_values.hpp"
#include "linalg/cell_sums.hpp"
#include "linalg/cells_of_all.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

namespace pnmf {
namespace {

/// What tells kinds of values apart. Zeros that are not stored count too.
struct ValueRange {
    double smallest = 0.0;
    double largest = 0.0;
    bool whole = true;

    void add(Index, Index, double x) {
        smallest = std::min(smallest, x);
        largest = std::max(largest, x);
        whole = whole && x == std::floor(x);
    }
};

/// The first value that has no log(1 + x).
struct NoLogarithm {
    std::optional<double> first;

    void add(Index, Index, double x) {
        if (!(x > -1.0) && !first) {
            first = x;
        }
    }
};

/// The stored values of cell j of those held here.
std::span<double> cell_values(Dataset& data, Index j) {
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        return {dense->col(j).data(), static_cast<std::size_t>(dense->rows())};
    }
    auto& sparse = std::get<SparseMatrix<double>>(data.X);
    return {sparse.value.data() + sparse.start[j], sparse.value.data() + sparse.start[j + 1]};
}

/// Divides by the length; by the largest value first, so that squares can neither vanish nor overflow.
void to_unit_length(std::span<double> cell) {
    double largest = 0.0;
    for (const double x : cell) {
        largest = std::max(largest, std::abs(x));
    }
    if (largest == 0.0) {
        return;
    }
    double sum = 0.0;
    for (double& x : cell) {
        x /= largest;
        sum += x * x;
    }
    const double length = std::sqrt(sum);
    for (double& x : cell) {
        x /= length;
    }
}

/// Σ_j x_ij and Σ_j x_ij² of each feature, p × 2, over blocks of cells and along the tree of these.
Matrix dense_sums(const Dataset& data, const Matrix& X) {
    return sum_over_cells<double>(
        io::ranks_of(data), data.cells(), X.rows(), 2, [&](const BlockSlab& slab, const BlockNode& node) {
            return sum_of_node<Matrix>(node, pieces_for_threads(1), [&](Index b) {
                const auto block = X.middleCols(slab.begin(b), slab.end(b) - slab.begin(b));
                Matrix sums(X.rows(), 2);
                sums.col(0) = block.rowwise().sum();
                sums.col(1) = block.rowwise().squaredNorm();
                return sums;
            });
        });
}

} // namespace

ValueFinding recognise_values(const Dataset& data, const ValueHints& hints) {
    ValueRange all;
    for (const ValueRange& found : io::found_in_values<ValueRange>(data)) {
        all.smallest = std::min(all.smallest, found.smallest);
        all.largest = std::max(all.largest, found.largest);
        all.whole = all.whole && found.whole;
    }
    Communicator& ranks = io::ranks_of(data);
    const double smallest = least_of(ranks, all.smallest);
    const double largest = most_of(ranks, all.largest);
    const bool whole = least_of(ranks, all.whole ? 1.0 : 0.0) > 0.0;
    if (smallest < 0.0) {
        return {ValueKind::scaled, fmt::format("some values are below 0, the smallest is {:.4g}", smallest)};
    }
    if (whole) {
        return {ValueKind::counts, fmt::format("whole numbers up to {:.6g}", largest)};
    }
    if (hints.log_recorded) {
        return {ValueKind::logged, "the file records a logarithm"};
    }
    if (largest <= largest_logarithm) {
        return {ValueKind::logged, fmt::format("not whole, and none above {:.4g}", largest), false};
    }
    return {ValueKind::expression, fmt::format("not whole, up to {:.6g}", largest), false};
}

void scale_cells_to(Dataset& data, double target) {
    parallel_for(io::held_cells(data).count, [&](Index j) {
        const std::span<double> cell = cell_values(data, j);
        const double sum = std::accumulate(cell.begin(), cell.end(), 0.0);
        if (sum > 0.0) {
            for (double& x : cell) {
                x *= target / sum;
            }
        }
    });
}

void take_logarithms(Dataset& data) {
    for (const NoLogarithm& found : io::found_in_values<NoLogarithm>(data)) {
        require(!found.first, "log(1 + x) needs values above -1, got {}", found.first.value_or(0.0));
    }
    parallel_for(io::held_cells(data).count, [&](Index j) {
        for (double& x : cell_values(data, j)) {
            x = std::log1p(x);
        }
    });
}

void scale_cells_to_unit_length(Dataset& data) {
    parallel_for(io::held_cells(data).count, [&](Index j) { to_unit_length(cell_values(data, j)); });
}

Vector feature_variances(const Dataset& data) {
    const Index p = data.features();
    const auto n = static_cast<double>(data.cells());
    Vector sum = Vector::Zero(p);
    Vector squares = Vector::Zero(p);
    if (const auto* dense = std::get_if<Matrix>(&data.X)) {
        const Matrix sums = dense_sums(data, *dense);
        sum = sums.col(0);
        squares = sums.col(1);
    } else {
        const auto& sparse = std::get<SparseMatrix<double>>(data.X);
        std::vector<double> sums(static_cast<std::size_t>(2 * p), 0.0); // of values, then of squares
        sum_along_ranks(io::ranks_of(data), sums, 2 * p, [&](Index, Index) {
            for (std::size_t e = 0; e < sparse.value.size(); ++e) {
                sums[sparse.row[e]] += sparse.value[e];
                sums[p + sparse.row[e]] += sparse.value[e] * sparse.value[e];
            }
        });
        sum = Eigen::Map<const Vector>(sums.data(), p);
        squares = Eigen::Map<const Vector>(sums.data() + p, p);
    }
    if (n < 2.0) {
        return Vector::Zero(p);
    }
    return ((squares.array() - sum.array().square() / n) / (n - 1.0)).max(0.0);
}

std::vector<Index> variable_features(const Dataset& data, Index count) {
    require(count >= 1, "at least 1 feature must be kept, got {}", count);
    const Vector variance = feature_variances(data);
    std::vector<Index> order(static_cast<std::size_t>(variance.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return variance[a] > variance[b]; });
    order.resize(static_cast<std::size_t>(std::min<Index>(count, std::ssize(order))));
    while (!order.empty() && variance[order.back()] <= 0.0) {
        order.pop_back();
    }
    std::sort(order.begin(), order.end());
    return order;
}

} // namespace pnmf
