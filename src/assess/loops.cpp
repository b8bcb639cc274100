#include "persistence/loops.hpp"
#include "assess/closed_curve.hpp"
#include "linalg/decompositions.hpp"
#include "persistence/neighbors.hpp"

#include <pnmf/assess/loops.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

namespace pnmf {
namespace {

constexpr Index most_axes = 30;
constexpr Index fewest_axes = 10;     ///< below, nothing can be said about noise
constexpr double clearly_above = 1.1; ///< the edge of noise, which is known to a few per cent
constexpr Index averaged = 8;         ///< neighbours of a cell, at least
constexpr Index averaged_part = 100;  ///< one in so many cells is one
constexpr Index averages = 4;
constexpr Index fits = 5; ///< of the closed curve

/// Along which axes cells differ by more than noise, and how much of each is kept.
struct SignalAxes {
    Vector mean;
    Matrix directions; ///< d × m, shrunk
    Index clear = 0;   ///< of them, have clearly more variance than noise

    Matrix coordinates(const Matrix& space) const {
        return directions.transpose() * (space.colwise() - mean);
    }
};

/// The largest variance that noise has, from descending variances of which the last half is noise.
double edge_of_noise(const Vector& variance) {
    const Index count = variance.size();
    if (count < fewest_axes) {
        return 0.0;
    }
    Index above = 0;
    double edge = 0.0;
    for (int round = 0; round < 5; ++round) {
        const Index first = count / 2;
        const Index used = count - first;
        Vector x(used);
        for (Index k = 0; k < used; ++k) {
            x[k] = std::pow(static_cast<double>(first + k - above) + 0.5, 2.0 / 3.0);
        }
        const Vector y = variance.tail(used);
        const Vector from_mean = x.array() - x.mean();
        const double slope = from_mean.dot(y) / from_mean.squaredNorm();
        edge = std::max(0.0, y.mean() - slope * x.mean());
        const Index found = std::min((variance.array() > edge).count(), first);
        if (found == above) {
            break;
        }
        above = found;
    }
    return edge;
}

SignalAxes signal_axes(const Matrix& sample) {
    SignalAxes axes{.mean = sample.rowwise().mean(), .directions = {}};
    const Matrix centred = sample.colwise() - axes.mean;
    const SymmetricEigen eigen =
        symmetric_eigen(centred * centred.transpose() / static_cast<double>(sample.cols()));
    const Index count = std::min(most_axes, sample.rows());
    const Vector variance = eigen.values.tail(count).reverse();
    constexpr double rounding = 1e-12;
    const double edge = std::max(edge_of_noise(variance), rounding * variance[0]);
    const Index above = (variance.array() > edge).count();
    axes.directions = eigen.vectors.rightCols(above).rowwise().reverse();
    axes.directions.array().rowwise() *= 1.0 - edge / variance.head(above).transpose().array();
    axes.clear = (variance.array() > clearly_above * edge).count();
    return axes;
}

/// Each cell the mean of itself and its nearest, again and again.
Matrix smoothed(Matrix cells) {
    const Index n = cells.cols();
    const Neighbors near =
        exact_neighbors(Points(cells), std::min(std::max(averaged, n / averaged_part), n - 1));
    for (Index round = 0; round < averages; ++round) {
        Matrix next = cells;
        for (Index j = 0; j < n; ++j) {
            for (const Index i : near.index.col(j)) {
                next.col(j) += cells.col(i);
            }
        }
        cells = next / static_cast<double>(near.index.rows() + 1);
    }
    return cells;
}

/// What is looked at of a cloud.
struct Skeleton {
    Matrix smooth; ///< all cells
    std::vector<Index> landmarks;
    Matrix distances;
    double spread = 1.0;
    std::vector<Loop> loops;

    double persistence(const Loop& loop) const { return (loop.death - loop.birth) / spread; }
    double largest() const { return loops.empty() ? 0.0 : persistence(loops.front()); }
};

Skeleton skeleton_of(const Matrix& cells, Index landmarks) {
    Skeleton result;
    result.smooth = smoothed(cells);
    const Vector mean = result.smooth.rowwise().mean();
    Index first = 0;
    (result.smooth.colwise() - mean).colwise().squaredNorm().minCoeff(&first);
    result.landmarks = farthest_points(Points(result.smooth), first, landmarks);
    const Matrix chosen = result.smooth(Eigen::all, result.landmarks);
    result.distances = Points(chosen).table();
    result.spread = std::sqrt((result.smooth.colwise() - mean).colwise().squaredNorm().mean());
    result.loops = h1_diagram(result.distances);
    return result;
}

/// The largest persistence in clouds without a loop.
std::vector<double> chance_persistence(const Matrix& cells, const LoopOptions& options) {
    const Vector mean = cells.rowwise().mean();
    const Vector deviation = (cells.colwise() - mean).rowwise().norm() / std::sqrt(cells.cols());
    std::vector<double> largest(static_cast<std::size_t>(options.null_clouds));
    parallel_for(options.null_clouds, [&](Index cloud) {
        Random random = Random(options.seed).fork(static_cast<std::uint64_t>(cloud));
        Matrix drawn(cells.rows(), cells.cols());
        for (double& value : drawn.reshaped()) {
            value = random.normal();
        }
        drawn.array().colwise() *= deviation.array();
        largest[static_cast<std::size_t>(cloud)] = skeleton_of(drawn, options.landmarks).largest();
    });
    return largest;
}

/// What a loop must exceed for a p-value of at most `level`.
double least_persistence(std::vector<double> chance, double level) {
    std::sort(chance.begin(), chance.end(), std::greater<>());
    constexpr double rounding = 1e-9;
    const auto as_large = static_cast<Index>(level * static_cast<double>(1 + chance.size()) + rounding) - 1;
    return as_large < 0                    ? std::numeric_limits<double>::infinity()
           : as_large < std::ssize(chance) ? chance[static_cast<std::size_t>(as_large)]
                                           : 0.0;
}

void add_diagram(LoopFinding& finding, const Skeleton& skeleton) {
    for (const Loop& loop : skeleton.loops) {
        finding.diagram.push_back({loop.birth / skeleton.spread, loop.death / skeleton.spread});
    }
    const Matrix landmarks = skeleton.smooth(Eigen::all, skeleton.landmarks);
    for (const Edge& edge : minimum_spanning_tree(Points(landmarks)).edges) {
        finding.joins.push_back(edge.length / skeleton.spread);
    }
}

/// Cells of the sample that come near the loop, and their phases by those of the landmarks.
ClosedCurve curve_of(const Loop& loop, const Skeleton& skeleton, const Matrix& cells, double& noise) {
    const std::vector<Index> cycle = cycle_of(loop, skeleton.distances);
    const auto is_near = [&](const auto& place) {
        return std::any_of(cycle.begin(), cycle.end(), [&](Index k) {
            const Index landmark = skeleton.landmarks[static_cast<std::size_t>(k)];
            return (skeleton.smooth.col(landmark) - place).norm() <= 0.5 * loop.death;
        });
    };
    const Vector coordinate = circular_coordinate(loop, skeleton.distances);
    std::vector<Index> at;
    std::vector<double> phases;
    for (std::size_t k = 0; k < skeleton.landmarks.size(); ++k) {
        if (is_near(skeleton.smooth.col(skeleton.landmarks[k]))) {
            at.push_back(skeleton.landmarks[k]);
            phases.push_back(coordinate[static_cast<Index>(k)]);
        }
    }
    std::vector<Index> near;
    for (Index j = 0; j < cells.cols(); ++j) {
        if (is_near(skeleton.smooth.col(j))) {
            near.push_back(j);
        }
    }
    const Matrix on_loop = cells(Eigen::all, near);
    const Vector first = Eigen::Map<const Vector>(phases.data(), std::ssize(phases));
    ClosedCurve curve(cells(Eigen::all, at), spread_evenly(first));
    noise = curve.noise_of(on_loop);
    for (Index fit = 1; fit < fits; ++fit) {
        curve = ClosedCurve(on_loop, spread_evenly(curve.places(on_loop, noise).phase));
        noise = curve.noise_of(on_loop);
    }
    return curve;
}

} // namespace

LoopFinding find_loops(const Matrix& space, const LoopOptions& options) {
    require(options.null_clouds >= 1, "loops need at least 1 cloud to compare with, got {}",
            options.null_clouds);
    require(options.landmarks >= 4, "a loop needs at least 4 landmarks, got {}", options.landmarks);
    require(space.allFinite(), "the coordinates of the cells must be finite");
    LoopFinding finding;
    if (space.cols() < fewest_cells_of_loop || options.most_cells < fewest_cells_of_loop ||
        space.rows() < 2) {
        return finding;
    }
    const std::vector<Index> sample = evenly_spaced(options.most_cells, space.cols());
    const Matrix sampled = space(Eigen::all, sample);
    const SignalAxes axes = signal_axes(sampled);
    finding.dimensions = axes.clear < 2 ? axes.clear : axes.directions.cols();
    if (axes.clear < 2) {
        return finding; // what is barely above noise has any shape
    }
    const Matrix cells = axes.coordinates(sampled);
    const Skeleton skeleton = skeleton_of(cells, options.landmarks);
    finding.persistence = skeleton.largest();
    const std::vector<double> chance = chance_persistence(cells, options);
    add_diagram(finding, skeleton);
    finding.chance = least_persistence(chance, options.level);
    const auto p_value = [&](double persistence) {
        const auto as_large =
            std::count_if(chance.begin(), chance.end(), [&](double one) { return one >= persistence; });
        return static_cast<double>(1 + as_large) / static_cast<double>(1 + chance.size());
    };
    finding.p_value = p_value(finding.persistence);
    std::optional<Matrix> all; // the cells on the axes of the sample
    for (const Loop& loop : skeleton.loops) {
        CellLoop found{.birth = loop.birth / skeleton.spread,
                       .death = loop.death / skeleton.spread,
                       .persistence = skeleton.persistence(loop),
                       .p_value = p_value(skeleton.persistence(loop)),
                       .phase = {}};
        if (found.p_value > options.level) {
            break;
        }
        if (!all) {
            all = axes.coordinates(space);
        }
        double noise = 0.0;
        const ClosedCurve curve = curve_of(loop, skeleton, cells, noise);
        ClosedCurve::Places places = curve.places(*all, noise);
        found.cells = (places.distance.array() <= curve.radius()).count();
        found.phase = std::move(places.phase);
        finding.loops.push_back(std::move(found));
    }
    return finding;
}

} // namespace pnmf
