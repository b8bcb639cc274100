#include <pnmf/baselines/choose_rank.hpp>

#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/linalg/sampling.hpp>
#include <pnmf/solvers/embed.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {
namespace {

constexpr Index most_held_out = 500;
constexpr double rough = 3e-3; ///< tolerance of the NMFs: the curve needs no more

/// 0 … n − 1 in random order.
std::vector<Index> shuffled(Index n, Random random) {
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    shuffle(order, random);
    return order;
}

Index features_of(const DataValues& X) {
    return std::visit(
        [](const auto& values) -> Index {
            if constexpr (std::is_same_v<std::decay_t<decltype(values)>, Matrix>) {
                return values.rows();
            } else {
                return values.rows;
            }
        },
        X);
}

Index cells_of(const DataValues& X) {
    return std::visit(
        [](const auto& values) -> Index {
            if constexpr (std::is_same_v<std::decay_t<decltype(values)>, Matrix>) {
                return values.cols();
            } else {
                return values.cols;
            }
        },
        X);
}

DataValues some_cells(const DataValues& X, const std::vector<Index>& cells) {
    if (const auto* dense = std::get_if<Matrix>(&X)) {
        return Matrix((*dense)(Eigen::all, cells));
    }
    const auto& sparse = std::get<SparseMatrix<double>>(X);
    SparseMatrix<double> part;
    part.rows = sparse.rows;
    part.cols = std::ssize(cells);
    for (const Index cell : cells) {
        for (auto e = sparse.start[cell]; e < sparse.start[cell + 1]; ++e) {
            part.row.push_back(sparse.row[e]);
            part.value.push_back(sparse.value[e]);
        }
        part.start.push_back(std::ssize(part.row));
    }
    return part;
}

/// The cells and features of one split.
struct Split {
    DataValues training;
    Matrix held_out; ///< p × m
    std::vector<Index> seen;
    std::vector<Index> predicted;
};

Split split(const DataValues& X, const RankOptions& options, Index number) {
    const Random random = Random(options.seed).fork(static_cast<std::uint64_t>(number));
    const std::vector<Index> cells = shuffled(cells_of(X), random.fork(0));
    const auto count = std::clamp<Index>(std::lround(options.held_out * static_cast<double>(cells.size())), 1,
                                         std::min(most_held_out, std::ssize(cells) - 2));
    const std::vector<Index> features = shuffled(features_of(X), random.fork(1));
    const auto half = std::ssize(features) / 2;
    Split result;
    const DataValues out = some_cells(X, {cells.begin(), cells.begin() + count});
    const auto* dense = std::get_if<Matrix>(&out);
    result.held_out = dense != nullptr ? *dense : to_dense(std::get<SparseMatrix<double>>(out));
    result.training = some_cells(X, {cells.begin() + count, cells.end()});
    result.seen.assign(features.begin(), features.begin() + half);
    result.predicted.assign(features.begin() + half, features.end());
    return result;
}

double error_of(const Split& split, Index rank, const RankOptions& options) {
    BaselineFitOptions nmf{.graph = published_settings(Baseline::nmf), .rank = rank, .tolerance = rough};
    nmf.seed = options.seed;
    const Matrix W = fit_baseline<double>(split.training, nmf).factors.W.front();
    const DataMatrix<double> seen(Matrix(split.held_out(split.seen, Eigen::all)));
    const Matrix H = embed_cells<double>(seen, Matrix(W(split.seen, Eigen::all)), Penalty{0.0, 0.0, 0.0},
                                         nullptr, {.tolerance = 1e-5})
                         .H;
    const Matrix truth = split.held_out(split.predicted, Eigen::all);
    const double size = truth.squaredNorm();
    return size > 0.0 ? (truth - W(split.predicted, Eigen::all) * H).squaredNorm() / size : 0.0;
}

} // namespace

std::vector<Index> rank_candidates(Index features, Index cells) {
    const auto root = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(cells))));
    const Index most = std::max<Index>(1, std::min(root, std::min(features, cells) / 2));
    std::vector<Index> ranks;
    for (double rank = std::min<double>(2.0, static_cast<double>(most)); std::lround(rank) < most;
         rank *= std::sqrt(2.0)) {
        if (ranks.empty() || ranks.back() < std::lround(rank)) {
            ranks.push_back(std::lround(rank));
        }
    }
    ranks.push_back(most);
    return ranks;
}

RankCurve choose_rank(const DataValues& X, const RankOptions& options) {
    const Index p = features_of(X);
    const Index n = cells_of(X);
    require(p >= 4 && n >= 4, "a rank is chosen for at least 4 features and 4 cells, got {} x {}", p, n);
    require(options.held_out > 0.0 && options.held_out < 1.0,
            "the share of held-out cells must be in (0, 1), got {}", options.held_out);
    require(options.repeats >= 1, "a rank needs at least 1 split, got {}", options.repeats);
    RankCurve curve;
    curve.ranks = options.ranks.empty() ? rank_candidates(p, n) : options.ranks;
    Matrix errors(options.repeats, std::ssize(curve.ranks));
    for (Index r = 0; r < options.repeats; ++r) {
        const Split parts = split(X, options, r);
        for (Index i = 0; i < std::ssize(curve.ranks); ++i) {
            errors(r, i) = error_of(parts, curve.ranks[i], options);
        }
    }
    const auto repeats = static_cast<double>(options.repeats);
    for (Index i = 0; i < errors.cols(); ++i) {
        const double mean = errors.col(i).mean();
        curve.error.push_back(mean);
        curve.deviation.push_back(
            options.repeats > 1
                ? std::sqrt((errors.col(i).array() - mean).square().sum() / (repeats * (repeats - 1.0)))
                : 0.0);
    }
    const auto best = std::min_element(curve.error.begin(), curve.error.end()) - curve.error.begin();
    Index chosen = 0;
    while (curve.error[chosen] > curve.error[best] + curve.deviation[best]) {
        ++chosen;
    }
    curve.chosen = curve.ranks[chosen];
    return curve;
}

} // namespace pnmf
