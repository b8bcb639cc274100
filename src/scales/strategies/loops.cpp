#include <pnmf/error.hpp>
#include <pnmf/scales/scale_set.hpp>

#include "persistence/loops.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace pnmf {
namespace {

constexpr Index most_points = 250;
constexpr double level = 0.05;

/// Loops that are more than chance, whose own persistence does not move the median; the most persistent one
/// where none is.
std::vector<Loop> clear_loops(std::vector<Loop> loops) {
    const auto stretch = [](const Loop& loop) { return std::log(std::log(loop.death / loop.birth)); };
    std::vector<double> sorted;
    std::transform(loops.begin(), loops.end(), std::back_inserter(sorted), stretch);
    std::sort(sorted.begin(), sorted.end());
    const double median = sorted.empty() ? 0.0 : sorted[sorted.size() / 2];
    // Of noise, stretch + c has the distribution function 1 − exp(−exp(x)), and so the median log log 2.
    const double c = std::log(std::numbers::ln2) - median;
    const double least = std::log(-std::log(level / static_cast<double>(loops.size())));
    std::vector<Loop> clear;
    for (const Loop& loop : loops) {
        if (stretch(loop) + c >= least) {
            clear.push_back(loop);
        }
    }
    if (clear.empty() && !loops.empty()) {
        clear.push_back(loops.front());
    }
    return clear;
}

std::vector<Loop> loops_of(const Points& points) {
    std::vector<Loop> loops = h1_diagram(points.count() > most_points
                                             ? points.subset(farthest_points(points, 0, most_points)).table()
                                             : points.table());
    std::erase_if(loops, [](const Loop& loop) { return loop.birth <= 0.0; }); // cells at one place
    return clear_loops(std::move(loops));
}

} // namespace

ScaleSet choose_with_loops(const ScaleSource& source) {
    require(
        source.points != nullptr,
        "scales at which loops are born and die need coordinates of the cells, and there is a graph alone: "
        "take the scales canonical");
    const ScaleSet canonical = canonical_scales(source.tree);
    std::vector<double> ends;
    for (const Loop& loop : loops_of(*source.points)) {
        ends.push_back(loop.death);
        ends.push_back(loop.birth);
    }
    std::vector<double> epsilon = canonical.epsilon;
    epsilon.insert(epsilon.end(), ends.begin(), ends.end());
    std::sort(epsilon.begin(), epsilon.end());
    epsilon.erase(std::unique(epsilon.begin(), epsilon.end()), epsilon.end());
    ScaleSet scales = full_set(std::move(epsilon), source.tree);
    const auto position = [&](double e) {
        return std::lower_bound(scales.epsilon.begin(), scales.epsilon.end(), e) - scales.epsilon.begin();
    };
    for (Index t = 0; t < canonical.size(); ++t) {
        scales.multiplicity[position(canonical.epsilon[t])] = canonical.multiplicity[t];
    }
    for (const double end : ends) {
        scales.wanted.push_back(position(end));
    }
    return scales;
}

} // namespace pnmf
