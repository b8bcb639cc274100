#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pnmf {

ScaleSet full_set(std::vector<double> epsilon, const SpanningTree& tree) {
    ScaleSet scales;
    scales.epsilon = std::move(epsilon);
    scales.multiplicity.assign(scales.epsilon.size(), 0);
    scales.weight.assign(scales.epsilon.size(), 1.0);
    scales.available = scales.size();
    const Diagram diagram = h0_diagram(tree);
    for (const double e : scales.epsilon) {
        scales.betti0.push_back(betti0(diagram, e));
    }
    return scales;
}

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
    ScaleSet scales = full_set(std::move(epsilon), tree);
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

std::vector<Index> few_positions(Index scales, const std::vector<Index>& wanted, Index count) {
    std::vector<Index> kept = evenly_spaced(count, scales);
    std::vector<bool> fixed(kept.size(), false);
    for (const Index place : wanted) {
        std::size_t nearest = 0;
        for (std::size_t k = 1; k + 1 < kept.size(); ++k) { // the ends stay
            const bool nearer = nearest == 0 || std::abs(kept[k] - place) < std::abs(kept[nearest] - place);
            nearest = !fixed[k] && nearer ? k : nearest;
        }
        const auto there = std::find(kept.begin(), kept.end(), place);
        if (there != kept.end()) {
            fixed[static_cast<std::size_t>(there - kept.begin())] = true;
        } else if (nearest > 0) {
            kept[nearest] = place;
            fixed[nearest] = true;
        }
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

ScaleSet keep_scales(const ScaleSet& scales, const std::vector<Index>& positions,
                     const std::vector<double>& weight) {
    require(positions.size() == weight.size(), "{} kept scales need as many weights, got {}",
            positions.size(), weight.size());
    ScaleSet kept;
    kept.available = scales.available;
    kept.weight = weight;
    for (const Index place : positions) {
        kept.epsilon.push_back(scales.epsilon[place]);
        kept.multiplicity.push_back(scales.multiplicity[place]);
        kept.betti0.push_back(scales.betti0[place]);
    }
    return kept;
}

ScaleSet thin(const ScaleSet& scales, Index count) {
    if (count >= scales.size()) {
        return scales;
    }
    require(count >= 2, "at least the finest and the coarsest scale must be kept: 2 scales, got {}", count);
    const std::vector<Index> places = few_positions(scales.size(), scales.wanted, count);
    const double wider = static_cast<double>(scales.size() - 1) / static_cast<double>(count - 1);
    std::vector<double> weight;
    for (const Index place : places) {
        weight.push_back(scales.weight[place] * wider);
    }
    return keep_scales(scales, places, weight);
}

} // namespace pnmf
