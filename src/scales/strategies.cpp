#include <pnmf/error.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <algorithm>
#include <cassert>

namespace pnmf {

std::vector<double> distance_scales(const ScaleSource& source) {
    return source.points != nullptr ? distance_scales(*source.points, source.tree)
                                    : source.edges->distance_scales(complete_scale(source.tree));
}

ScaleSet choose_scales(const ScaleSource& source, const ScaleOptions& options) {
    assert(source.points != nullptr || source.edges != nullptr);
    const Index cells = source.points != nullptr ? source.points->count() : source.edges->cells;
    require(cells == source.tree.cells, "the tree spans {} cells, but there are {}", source.tree.cells,
            cells);
    require(!options.max_scales || *options.max_scales >= 1,
            "the number of scales must be at least 1, got {}", options.max_scales.value_or(0));
    const auto row = std::find_if(scale_strategies.begin(), scale_strategies.end(),
                                  [&](const auto& known) { return known.strategy == options.strategy; });
    assert(row != scale_strategies.end());
    const ScaleSet scales = row->choose(source);
    return options.max_scales ? thin(scales, *options.max_scales) : scales;
}

ScaleSet choose_scales(const Points& points, const SpanningTree& tree, const ScaleOptions& options,
                       std::uint64_t seed) {
    return choose_scales({.tree = tree, .points = &points, .seed = seed}, options);
}

} // namespace pnmf
