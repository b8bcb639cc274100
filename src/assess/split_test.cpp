#include "assess/split_test.hpp"

#include "linalg/decompositions.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

constexpr Index parts = 10;
constexpr double half_width = 0.16;         ///< of equal windows, as a share of the way between the centres
constexpr double nearest_between = 0.32;    ///< to an end: equal windows do not overlap
constexpr double rare = 0.2;                ///< a group with a smaller share of the cells
constexpr Index cells_of_axis = 5;          ///< fewer cells for each axis would not fix a direction
constexpr Index fewest_cells = 4;           ///< on a side
constexpr double deviations_of_depth = 2.0; ///< between groups that depth alone might part

/// The cells along their principal axes, as many as their number can bear.
Matrix principal_axes(const Matrix& cells) {
    const Matrix centred = cells.colwise() - cells.rowwise().mean();
    const SymmetricEigen axes = symmetric_eigen(centred * centred.transpose());
    const Index kept = std::min(cells.rows(), std::max<Index>(2, cells.cols() / cells_of_axis));
    return axes.vectors.rightCols(kept).transpose() * centred;
}

double mean_of(const std::vector<double>& values, const std::vector<Index>& at) {
    double sum = 0.0;
    for (const Index j : at) {
        sum += values[j];
    }
    return sum / static_cast<double>(at.size());
}

/// P(so few between, or fewer, were the density log-concave): the mass of a window at share t of the way is
/// then at least the weighted geometric mean (1 − t, t) of the others (Prékopa 1973). v of that. By the
/// normal approximation of the logarithms of the counts.
double below_log_concave(const SplitTest& found, double share, double valley) {
    const auto first = static_cast<double>(found.first) + 0.5;
    const auto between = static_cast<double>(found.between) + 0.5;
    const auto second = static_cast<double>(found.second) + 0.5;
    const double expected = std::log(valley) + (1.0 - share) * std::log(first) + share * std::log(second);
    const double short_of = std::log(between) - expected;
    const double variance = 1.0 / between + (1.0 - share) * (1.0 - share) / first + share * share / second;
    return 0.5 * std::erfc(-short_of / std::sqrt(2.0 * variance));
}

} // namespace

double binomial_below(Index x, Index n, double share) {
    if (x >= n || share <= 0.0) {
        return 1.0;
    }
    if (share >= 1.0) {
        return 0.0;
    }
    // Each term from the one before, from x down, relative to it. Where terms rise on the way down, x is
    // above the mean.
    const auto size = static_cast<double>(n);
    const auto top = static_cast<double>(x);
    const double first = std::lgamma(size + 1.0) - std::lgamma(top + 1.0) - std::lgamma(size - top + 1.0) +
                         top * std::log(share) + (size - top) * std::log1p(-share);
    double sum = 0.0;
    double term = 1.0;
    double before = 0.0;
    for (Index i = x; i >= 0 && (term > 1e-18 * sum || term > before); --i) {
        sum += term;
        before = term;
        term *= static_cast<double>(i) / static_cast<double>(n - i + 1) * (1.0 - share) / share;
    }
    return std::min(1.0, std::exp(first) * sum);
}

SplitTester::SplitTester(const Matrix& cells, std::vector<Index> leaf, Index leaves,
                         std::vector<double> depth, std::uint64_t seed)
    : cells_(principal_axes(cells)), leaf_(std::move(leaf)), depth_(std::move(depth)) {
    require(std::ssize(leaf_) == cells.cols(), "{} cells need as many leaves, got {}", cells.cols(),
            leaf_.size());
    require(depth_.empty() || std::ssize(depth_) == cells.cols(), "{} cells need as many depths, got {}",
            cells.cols(), depth_.size());
    const Index d = cells_.rows();
    moments_.assign(static_cast<std::size_t>(leaves * parts),
                    {.count = 0.0, .sum = Vector::Zero(d), .products = Matrix::Zero(d, d)});
    std::vector<std::vector<Index>> members(moments_.size());
    const Random random(seed);
    for (Index j = 0; j < cells_.cols(); ++j) {
        part_.push_back(random.fork(static_cast<std::uint64_t>(j)).below(parts));
        members[static_cast<std::size_t>(leaf_[j] * parts + part_[j])].push_back(j);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
        const Matrix group = cells_(Eigen::all, members[i]);
        moments_[i].count = static_cast<double>(group.cols());
        moments_[i].sum = group.rowwise().sum();
        moments_[i].products.noalias() = group * group.transpose();
    }
}

const SplitTester::Moments& SplitTester::moments(Index leaf, Index part) const {
    return moments_[static_cast<std::size_t>(leaf * parts + part)];
}

SplitTester::Line SplitTester::line_without(Index part, const std::vector<bool>& second) const {
    const Index d = cells_.rows();
    Moments side[2];
    for (Moments& one : side) {
        one = {.count = 0.0, .sum = Vector::Zero(d), .products = Matrix::Zero(d, d)};
    }
    for (Index leaf = 0; leaf < std::ssize(second); ++leaf) {
        Moments& one = side[second[leaf] ? 1 : 0];
        for (Index other = 0; other < parts; ++other) {
            if (other != part) {
                const Moments& sums = moments(leaf, other);
                one.count += sums.count;
                one.sum += sums.sum;
                one.products += sums.products;
            }
        }
    }
    Line line;
    if (side[0].count < 2.0 || side[1].count < 2.0) {
        return line;
    }
    Matrix spread[2];
    for (int s : {0, 1}) {
        side[s].sum /= side[s].count;
        spread[s] = side[s].products - side[s].count * side[s].sum * side[s].sum.transpose();
    }
    const double count = side[0].count + side[1].count;
    Matrix pooled = (spread[0] + spread[1]) / count;
    const double shrunk = static_cast<double>(d) / (count + static_cast<double>(d));
    const double variance = pooled.trace() / static_cast<double>(d);
    pooled *= 1.0 - shrunk;
    pooled.diagonal().array() += shrunk * variance;
    const Vector apart = side[1].sum - side[0].sum;
    line.direction = variance > 0.0 ? Vector(pooled.llt().solve(apart)) : apart;
    line.origin = line.direction.dot(side[0].sum);
    line.length = line.direction.dot(apart);
    line.exists = std::isfinite(line.length) && line.length > 0.0;
    const auto deviation = [&](int s) {
        return std::sqrt(std::max(0.0, line.direction.dot(spread[s] * line.direction) / side[s].count));
    };
    const double first = deviation(0);
    const double both = first + deviation(1);
    line.between = both > 0.0 ? first / both : 0.5;
    const double within = line.direction.dot((spread[0] + spread[1]) * line.direction) / count;
    line.border = 0.5 + within / (line.length * line.length) * std::log(side[0].count / side[1].count);
    return line;
}

SplitTest SplitTester::count(const Vector& place, double between, const SplitQuestion& question,
                             const std::vector<Index>& cells) {
    SplitTest result{.tested = true};
    const auto near = [&](Index j, double middle) { return std::abs(place[j] - middle) < half_width; };
    for (const Index j : cells) {
        result.first += near(j, 0.0) ? 1 : 0;
        result.between += near(j, between) ? 1 : 0;
        result.second += near(j, 1.0) ? 1 : 0;
    }
    const Index fewer = std::min(result.first, result.second);
    const double v = question.valley;
    if (question.shape == SplitShape::log_concave) {
        result.p_value = 2 * fewer > result.between ? below_log_concave(result, between, v) : 1.0;
    } else {
        result.p_value = binomial_below(result.between, result.between + fewer, v / (1.0 + v));
    }
    return result;
}

std::vector<Index> SplitTester::near_border_in_depth(const std::vector<bool>& second) const {
    if (depth_.empty()) {
        return {};
    }
    std::vector<Index> side[2];
    for (Index j = 0; j < cells_.cols(); ++j) {
        side[second[leaf_[j]] ? 1 : 0].push_back(j);
    }
    double mean[2];
    double squares = 0.0;
    for (int s : {0, 1}) {
        mean[s] = mean_of(depth_, side[s]);
        for (const Index j : side[s]) {
            squares += (depth_[j] - mean[s]) * (depth_[j] - mean[s]);
        }
    }
    const double deviation = std::sqrt(squares / static_cast<double>(cells_.cols()));
    if (std::abs(mean[1] - mean[0]) < deviations_of_depth * deviation || mean[0] == mean[1]) {
        return {};
    }
    const double border = 0.5 * (mean[0] + mean[1]);
    std::vector<Index> cells(static_cast<std::size_t>(cells_.cols()));
    std::iota(cells.begin(), cells.end(), Index{0});
    std::stable_sort(cells.begin(), cells.end(), [&](Index i, Index j) {
        return std::abs(depth_[i] - border) < std::abs(depth_[j] - border);
    });
    cells.resize((cells.size() + 1) / 2);
    return cells;
}

Index SplitTester::smaller_side(const std::vector<bool>& second) const {
    const Index of_second = std::count_if(leaf_.begin(), leaf_.end(), [&](Index l) { return second[l]; });
    return std::min<Index>(of_second, std::ssize(leaf_) - of_second);
}

SplitTest SplitTester::test(const std::vector<bool>& second, const SplitQuestion& question) const {
    const Index n = cells_.cols();
    const bool for_rare = question.shape == SplitShape::log_concave;
    const Index smaller = smaller_side(second);
    const bool one_is_rare = static_cast<double>(smaller) < rare * static_cast<double>(n);
    if (smaller < fewest_cells || (for_rare && !one_is_rare)) {
        return {};
    }
    std::vector<Line> lines;
    double between = 0.0;
    for (Index part = 0; part < parts; ++part) {
        lines.push_back(line_without(part, second));
        if (!lines.back().exists) {
            return {};
        }
        between += (for_rare ? lines.back().border : lines.back().between) / static_cast<double>(parts);
    }
    Vector place(n);
    for (Index j = 0; j < n; ++j) {
        const Line& line = lines[static_cast<std::size_t>(part_[j])];
        place[j] = (line.direction.dot(cells_.col(j)) - line.origin) / line.length;
    }
    between = std::clamp(between, nearest_between, 1.0 - nearest_between);
    std::vector<Index> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), Index{0});
    SplitTest result = count(place, between, question, all);
    if (const std::vector<Index> near = near_border_in_depth(second); !near.empty()) {
        result.p_value = std::max(result.p_value, count(place, between, question, near).p_value);
    }
    return result;
}

} // namespace pnmf
