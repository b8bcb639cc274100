#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/linalg/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

/// Positions 0 … count − 1, at most `most` of them, but not fewer than both ends.
std::vector<Index> sample(Index count, Index most) {
    return evenly_spaced(std::max<Index>(most, 2), count, Rounding::down);
}

/// M_k: the largest dA/dε over the first `edges` edges and ε in [low, high].
///
/// With u = d²/ε^α the rate is α ε^(−1) u e^(−u) for fixed ε, largest at d = ε^(α/2); and for fixed d it is
/// α d^(−2/α) u^(1+1/α) e^(−u), largest at u = 1 + 1/α. So the maximum over the box is at one of its ends in
/// ε, at the edges next to d = ε^(α/2), or inside at the shortest edge whose own best ε is in [low, high].
double largest_rate(const SortedEdges& sorted, Index edges, double alpha, double low, double high) {
    const auto begin = sorted.edges.begin();
    const auto end = begin + edges;
    const auto shorter = [](const Edge& edge, double length) { return edge.length < length; };
    double largest = 0.0;
    for (const double epsilon : {low, high}) {
        const auto best = std::lower_bound(begin, end, std::pow(epsilon, alpha / 2.0), shorter);
        if (best != end) {
            largest = std::max(largest, weight_rate(best->length, epsilon, alpha));
        }
        if (best != begin) {
            largest = std::max(largest, weight_rate((best - 1)->length, epsilon, alpha));
        }
    }
    // ε*(d) = (d²/(1 + 1/α))^(1/α) ascends with d, and the rate there falls with d.
    const double ratio = 1.0 + 1.0 / alpha;
    const auto inside = std::lower_bound(begin, end, std::sqrt(ratio * std::pow(low, alpha)), shorter);
    if (inside != end) {
        const double epsilon = std::pow(inside->length * inside->length / ratio, 1.0 / alpha);
        if (epsilon >= low && epsilon <= high) {
            largest = std::max(largest, weight_rate(inside->length, epsilon, alpha));
        }
    }
    return largest;
}

/// ‖dL/dε‖_F of the graph with the first `edges` edges.
double slope_norm(const SortedEdges& sorted, Index edges, double alpha, double epsilon) {
    Vector degrees = Vector::Zero(sorted.cells);
    double weights = 0.0;
    const double power = std::pow(epsilon, alpha);
    for (Index e = 0; e < edges; ++e) {
        const Edge& edge = sorted.edges[e];
        const double u = edge.length * edge.length / power;
        const double rate = alpha * u / epsilon * std::exp(-u); // `weight_rate`, its power taken once
        weights += 2.0 * rate * rate;
        degrees(edge.i) += rate;
        degrees(edge.j) += rate;
    }
    return std::sqrt(degrees.squaredNorm() + weights);
}

/// √|E_k| M_k of the interval (low, high].
double adjacency_constant(const SortedEdges& sorted, double alpha, double low, double high) {
    const Index edges = sorted.edges_below(high);
    return std::sqrt(2.0 * static_cast<double>(edges)) * largest_rate(sorted, edges, alpha, low, high);
}

/// Intervals whose edges can be looked at in about a second.
Index affordable(const SortedEdges& sorted) {
    const auto edges = std::max<Index>(static_cast<Index>(sorted.edges.size()), 1);
    return std::clamp<Index>(30'000'000 / edges, 20, 10'000);
}

} // namespace

double weight_rate(double distance, double epsilon, double alpha) {
    const double u = distance * distance / std::pow(epsilon, alpha);
    return alpha * u / epsilon * std::exp(-u);
}

PiecewiseLipschitz piecewise_lipschitz(const SortedEdges& sorted, double alpha,
                                       const std::vector<double>& distance_scales,
                                       std::optional<Index> most) {
    PiecewiseLipschitz result;
    result.intervals = static_cast<Index>(distance_scales.size()) - 1;
    const double root = std::sqrt(static_cast<double>(sorted.cells)) + 1.0;
    for (const Index k : sample(result.intervals, most.value_or(affordable(sorted)))) {
        const double low = distance_scales[k];
        const double high = distance_scales[k + 1];
        const double middle = low + (high - low) / 2.0;
        const Index edges = sorted.edges_below(high);
        const double bound = root * adjacency_constant(sorted, alpha, low, high);
        double slope = 0.0;
        for (const double epsilon : {low, middle, high}) {
            slope = std::max(slope, slope_norm(sorted, edges, alpha, epsilon));
        }
        if (high - middle > 1e-6 * high) { // a difference quotient over less is rounding
            const double change = laplacian_increment(sorted, alpha, middle, high).norm;
            slope = std::max(slope, change / (high - middle));
        }
        ++result.checked;
        result.largest_ratio = std::max(result.largest_ratio, bound > 0.0 ? slope / bound : 0.0);
        if (slope > result.largest_slope) {
            result.largest_slope = slope;
            result.bound_there = bound;
        }
    }
    return result;
}

LipschitzConstants lipschitz_constants(const SortedEdges& sorted, double alpha,
                                       const std::vector<double>& distance_scales) {
    LipschitzConstants constants;
    constants.smallest_gap = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k + 1 < distance_scales.size(); ++k) {
        const double low = distance_scales[k];
        const double high = distance_scales[k + 1];
        constants.smallest_gap = std::min(constants.smallest_gap, high - low);
        constants.C1 = std::max(constants.C1, adjacency_constant(sorted, alpha, low, high));
        constants.most_new_pairs =
            std::max(constants.most_new_pairs, 2 * (sorted.edges_below(high) - sorted.edges_below(low)));
    }
    const double root = std::sqrt(static_cast<double>(sorted.cells));
    constants.C2 = root / constants.smallest_gap;
    constants.C = (1.0 + root) * (constants.C1 + constants.C2);
    return constants;
}

double AdjacentLipschitz::largest_slope() const {
    double largest = 0.0;
    for (std::size_t t = 0; t < gap.size(); ++t) {
        largest = std::max(largest, increment[t] / gap[t]);
    }
    return largest;
}

AdjacentLipschitz adjacent_lipschitz(const SortedEdges& sorted, double alpha,
                                     const std::vector<double>& scales, std::optional<Index> most) {
    AdjacentLipschitz result;
    result.of = std::max<Index>(static_cast<Index>(scales.size()) - 1, 0);
    for (const Index k : sample(result.of, most.value_or(affordable(sorted)))) {
        const LaplacianIncrement change = laplacian_increment(sorted, alpha, scales[k], scales[k + 1]);
        result.gap.push_back(scales[k + 1] - scales[k]);
        result.increment.push_back(change.norm);
        result.smallest_weight_change = std::min(result.smallest_weight_change, change.smallest_change);
        ++result.checked;
    }
    return result;
}

Findings findings(const PiecewiseLipschitz& piecewise, const LipschitzConstants& constants,
                  const AdjacentLipschitz& distance_scales, const AdjacentLipschitz& scales) {
    const std::string adjacent = "thm:lipschitz_bound";
    // Where the bound is that large, any Laplacian would meet it.
    const std::string why = fmt::format("C = (1 + sqrt(n))(C1 + C2), C1 = {:.3g}, C2 = {:.3g} from the "
                                        "smallest gap between distances, {:.2g}",
                                        constants.C1, constants.C2, constants.smallest_gap);
    return {
        {.statement = "thm:piecewise_lipschitz_continuity",
         .what = "between neighbouring distances L is Lipschitz with (sqrt(n)+1) sqrt|E_k| M_k",
         .measured = piecewise.largest_slope,
         .bound = piecewise.bound_there,
         .verdict = verdict_of(piecewise.largest_ratio <= 1.0 + 1e-9),
         .note = fmt::format("steepest of {} of {} intervals; largest share of its bound {:.3g}",
                             piecewise.checked, piecewise.intervals, piecewise.largest_ratio)},
        {.statement = adjacent,
         .what = "|dL| <= C |d delta| between neighbouring distances",
         .measured = distance_scales.largest_slope(),
         .bound = constants.C,
         .verdict = verdict_of(distance_scales.largest_slope() <= constants.C * (1.0 + 1e-9)),
         .note = fmt::format("{} of {} neighbours; {}", distance_scales.checked, distance_scales.of, why)},
        {.statement = adjacent,
         .what = "|dL_t| <= C |d epsilon_t| between neighbouring scales",
         .measured = scales.largest_slope(),
         .bound = constants.C,
         .verdict = verdict_of(scales.largest_slope() <= constants.C * (1.0 + 1e-9)),
         .note = "the same C"},
        {.statement = "filtration",
         .what = "no weight falls as epsilon grows",
         .measured = scales.smallest_weight_change,
         .bound = 0.0,
         .verdict = verdict_of(scales.smallest_weight_change >= 0.0),
         .note = {}},
    };
}

} // namespace pnmf
