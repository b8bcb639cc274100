#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace pnmf {
namespace {

/// ⌊k·(size − 1)/(count − 1) + ½⌋, the k-th of `count` places spread evenly over `size`, ends included.
Index spread(Index k, Index count, Index size) {
    return count == 1 ? size - 1 : (2 * k * (size - 1) + (count - 1)) / (2 * (count - 1));
}

/// Places of RDS: the ends, and the others drawn without repetition (Floyd's sampling), ascending.
std::vector<Index> draw_places(Index count, Index size, std::uint64_t seed) {
    Random random(seed);
    std::set<Index> places{0, size - 1};
    for (Index top = size - 1 - (count - 2); top < size - 1; ++top) {
        const Index place = 1 + random.below(top);
        places.insert(places.contains(place) ? top : place);
    }
    return {places.begin(), places.end()};
}

std::vector<double> uniform_scales(const std::vector<double>& distances, Index count) {
    std::vector<double> epsilon;
    for (Index k = 0; k < count; ++k) {
        epsilon.push_back(distances[spread(k, count, static_cast<Index>(distances.size()))]);
    }
    return epsilon;
}

std::vector<double> random_scales(const std::vector<double>& distances, Index count, std::uint64_t seed) {
    if (count == 1) {
        return {distances.back()};
    }
    std::vector<double> epsilon;
    for (const Index place : draw_places(count, static_cast<Index>(distances.size()), seed)) {
        epsilon.push_back(distances[place]);
    }
    return epsilon;
}

/// One uniform draw from each (ε_{t−1}, ε_t], ε₀ = 0.
std::vector<double> sufficient_scales(const ScaleSet& canonical, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> epsilon;
    double below = 0.0;
    for (const double above : canonical.epsilon) {
        const double draw = above - random.uniform() * (above - below);
        // The open end may come out of the rounding, but never belongs to the interval.
        epsilon.push_back(draw > below ? draw : std::nextafter(below, above));
        below = above;
    }
    return epsilon;
}

ScaleSet with_components(std::vector<double> epsilon, const SpanningTree& tree) {
    ScaleSet scales;
    scales.epsilon = std::move(epsilon);
    scales.multiplicity.assign(scales.epsilon.size(), 0);
    const Diagram diagram = h0_diagram(tree);
    for (const double e : scales.epsilon) {
        scales.betti0.push_back(betti0(diagram, e));
    }
    return scales;
}

} // namespace

double complete_scale(const SpanningTree& tree) {
    const double margin = tree.largest_distance + 1e-9;
    return margin > tree.largest_distance
               ? margin
               : std::nextafter(tree.largest_distance, std::numeric_limits<double>::infinity());
}

ScaleSet canonical_scales(const SpanningTree& tree) {
    std::vector<double> epsilon;
    std::vector<Index> multiplicity;
    for (const Edge& edge : tree.edges) {
        if (edge.length == 0.0) {
            continue;
        }
        if (epsilon.empty() || epsilon.back() != edge.length) {
            epsilon.push_back(edge.length);
            multiplicity.push_back(0);
        }
        ++multiplicity.back();
    }
    epsilon.push_back(complete_scale(tree));
    multiplicity.push_back(0);
    ScaleSet scales = with_components(std::move(epsilon), tree);
    scales.multiplicity = std::move(multiplicity);
    return scales;
}

std::vector<double> distance_scales(const Points& points, const SpanningTree& tree) {
    const Index n = points.count();
    require(n <= largest_distance_set,
            "the set of all distances is held in memory for at most {} cells, got {}: take the scales "
            "canonical or "
            "sufficient",
            largest_distance_set, n);
    std::vector<double> distances(static_cast<std::size_t>(n * (n - 1) / 2));
    parallel_for(n, [&](Index j) {
        for (Index i = 0; i < j; ++i) {
            distances[j * (j - 1) / 2 + i] = points.distance(i, j);
        }
    });
    std::sort(distances.begin(), distances.end());
    distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
    if (!distances.empty() && distances.front() == 0.0) {
        distances.erase(distances.begin());
    }
    distances.push_back(complete_scale(tree));
    return distances;
}

Index duplicates(const SpanningTree& tree) {
    return std::count_if(tree.edges.begin(), tree.edges.end(),
                         [](const Edge& edge) { return edge.length == 0.0; });
}

ScaleSet thin(const ScaleSet& scales, Index count) {
    if (count >= scales.size()) {
        return scales;
    }
    require(count >= 2, "at least the finest and the coarsest scale must be kept: 2 scales, got {}", count);
    ScaleSet kept;
    kept.stride = scales.stride * static_cast<double>(scales.size() - 1) / static_cast<double>(count - 1);
    for (Index k = 0; k < count; ++k) {
        const Index place = spread(k, count, scales.size());
        kept.epsilon.push_back(scales.epsilon[place]);
        kept.multiplicity.push_back(scales.multiplicity[place]);
        kept.betti0.push_back(scales.betti0[place]);
    }
    return kept;
}

ScaleSet choose_scales(const Points& points, const SpanningTree& tree, const ScaleOptions& options) {
    require(points.count() == tree.cells, "the tree spans {} cells, but there are {}", tree.cells,
            points.count());
    require(!options.max_scales || *options.max_scales >= 1,
            "the number of scales must be at least 1, got {}", options.max_scales.value_or(0));
    ScaleSet scales = canonical_scales(tree);
    const Index count = scales.size();
    switch (options.strategy) {
    case ScaleStrategy::canonical:
        break;
    case ScaleStrategy::uniform:
        scales = with_components(uniform_scales(distance_scales(points, tree), count), tree);
        break;
    case ScaleStrategy::random:
        scales = with_components(random_scales(distance_scales(points, tree), count, options.seed), tree);
        break;
    case ScaleStrategy::sufficient:
        scales = with_components(sufficient_scales(scales, options.seed), tree);
        break;
    }
    return options.max_scales ? thin(scales, *options.max_scales) : scales;
}

} // namespace pnmf
