#include <pnmf/assess/split_test.hpp>

#include "linalg/decompositions.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace pnmf {
namespace {

constexpr Index parts = 10;
constexpr double half_width = 0.16;         ///< of equal windows, as a share of the way between the centres
constexpr double nearest_between = 0.32;    ///< to an end: equal windows do not overlap
constexpr double rare = 0.2;                ///< a group with a smaller share of the cells
constexpr Index grid = 24;                  ///< steps from centre to centre that windows may end at
constexpr double within_one = 0.1587;       ///< of a normal population, beyond one deviation on a side
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

/// Of a group on the line: half of it on either side of the centre, a third within a deviation on a side.
struct Spread {
    double cells = 0.0;
    double centre = 0.0;
    double deviation = 0.0;
};

Spread spread_of(std::vector<double> places) {
    std::sort(places.begin(), places.end());
    const auto at = [&](double share) {
        const double place = share * static_cast<double>(places.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const std::size_t above = std::min(below + 1, places.size() - 1);
        return places[below] + (place - std::floor(place)) * (places[above] - places[below]);
    };
    return {.cells = static_cast<double>(places.size()),
            .centre = at(0.5),
            .deviation = std::max(0.5 * (at(1.0 - within_one) - at(within_one)), 1e-6)};
}

/// Cells of two normal groups that are expected in a window.
double expected(const Spread& a, const Spread& b, const SplitWindow& window) {
    const auto of = [&](const Spread& group) {
        const auto below = [&](double place) {
            return 0.5 * std::erfc((group.centre - place) / (std::sqrt(2.0) * group.deviation));
        };
        return group.cells * (below(window.end) - below(window.begin));
    };
    return of(a) + of(b);
}

/// What x cells in one window and y in another say against even density: the logarithm of the likelihood
/// ratio; less than nothing where the first is the denser.
double evidence(double x, double y, double width_x, double width_y) {
    const double share = width_x / (width_x + width_y);
    const double found = x / (x + y);
    if (!(found < share)) {
        return -1.0;
    }
    return x * std::log(std::max(found, 1e-9) / share) + y * std::log((1.0 - found) / (1.0 - share));
}

/// Windows on the outer and inner half of a group; `towards` the other one is 1 or -1.
std::array<SplitWindow, 3> ends_of(const Spread& group, double towards) {
    std::array<SplitWindow, 3> ends;
    constexpr std::array<std::pair<double, double>, 3> shapes{{{0.5, 0.0}, {1.0, 0.0}, {1.0, 0.5}}};
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const auto [half, outwards] = shapes[i];
        const double middle = group.centre - towards * outwards * group.deviation;
        ends[i] = {.begin = middle - half * group.deviation, .end = middle + half * group.deviation};
    }
    return ends;
}

/// Around 0, around 1, and around a place between them.
SplitWindows equal_windows(double between) {
    between = std::clamp(between, nearest_between, 1.0 - nearest_between);
    const auto around = [](double place) {
        return SplitWindow{.begin = place - half_width, .end = place + half_width};
    };
    return {.first = around(0.0), .between = around(between), .second = around(1.0)};
}

std::optional<SplitWindows> choose_windows(const Spread& a, const Spread& b) {
    if (b.centre <= a.centre) {
        return std::nullopt;
    }
    const std::array<SplitWindow, 3> first = ends_of(a, 1.0);
    const std::array<SplitWindow, 3> second = ends_of(b, -1.0);
    const auto expected_in = [&](const std::array<SplitWindow, 3>& ends) {
        std::array<double, 3> cells{};
        std::transform(ends.begin(), ends.end(), cells.begin(),
                       [&](const SplitWindow& window) { return expected(a, b, window); });
        return cells;
    };
    const std::array<double, 3> in_first = expected_in(first);
    const std::array<double, 3> in_second = expected_in(second);
    const double step = (b.centre - a.centre) / static_cast<double>(grid);
    std::optional<SplitWindows> best;
    double most = 0.0;
    for (Index from = 0; from < grid; ++from) {
        for (Index to = from + 1; to <= grid; ++to) {
            const SplitWindow between{.begin = a.centre + step * static_cast<double>(from),
                                      .end = a.centre + step * static_cast<double>(to)};
            const double cells = expected(a, b, between);
            double of[2] = {0.0, 0.0};
            std::size_t at[2] = {0, 0};
            for (std::size_t i = 0; i < first.size(); ++i) {
                const double left = first[i].end <= between.begin
                                        ? evidence(cells, in_first[i], between.width(), first[i].width())
                                        : -1.0;
                const double right = second[i].begin >= between.end
                                         ? evidence(cells, in_second[i], between.width(), second[i].width())
                                         : -1.0;
                if (left > of[0]) {
                    of[0] = left;
                    at[0] = i;
                }
                if (right > of[1]) {
                    of[1] = right;
                    at[1] = i;
                }
            }
            if (std::min(of[0], of[1]) > most) {
                most = std::min(of[0], of[1]);
                best = SplitWindows{.first = first[at[0]], .between = between, .second = second[at[1]]};
            }
        }
    }
    return best;
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
    return line;
}

SplitTest SplitTester::count(const Vector& place, const SplitWindows& windows,
                             const std::vector<Index>& cells) {
    SplitTest result;
    for (const Index j : cells) {
        result.first += windows.first.holds(place[j]) ? 1 : 0;
        result.between += windows.between.holds(place[j]) ? 1 : 0;
        result.second += windows.second.holds(place[j]) ? 1 : 0;
    }
    const double width = windows.between.width();
    result.p_value = std::max(binomial_below(result.between, result.between + result.first,
                                             width / (width + windows.first.width())),
                              binomial_below(result.between, result.between + result.second,
                                             width / (width + windows.second.width())));
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

SplitTest SplitTester::test(const std::vector<bool>& second) const {
    const Index n = cells_.cols();
    if (smaller_side(second) < fewest_cells) {
        return {};
    }
    std::vector<Line> lines;
    double between = 0.0;
    for (Index part = 0; part < parts; ++part) {
        lines.push_back(line_without(part, second));
        if (!lines.back().exists) {
            return {};
        }
        between += lines.back().between / static_cast<double>(parts);
    }
    Vector place(n);
    for (Index j = 0; j < n; ++j) {
        const Line& line = lines[static_cast<std::size_t>(part_[j])];
        place[j] = (line.direction.dot(cells_.col(j)) - line.origin) / line.length;
    }
    std::vector<double> side[2];
    for (Index j = 0; j < n; ++j) {
        side[second[leaf_[j]] ? 1 : 0].push_back(place[j]);
    }
    const bool one_is_rare = static_cast<double>(smaller_side(second)) < rare * static_cast<double>(n);
    const std::optional<SplitWindows> windows =
        one_is_rare ? choose_windows(spread_of(std::move(side[0])), spread_of(std::move(side[1])))
                    : equal_windows(between);
    if (!windows) {
        return {.tested = true};
    }
    std::vector<Index> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), Index{0});
    SplitTest result = count(place, *windows, all);
    result.tested = true;
    if (const std::vector<Index> near = near_border_in_depth(second); !near.empty()) {
        result.p_value = std::max(result.p_value, count(place, *windows, near).p_value);
    }
    return result;
}

} // namespace pnmf
