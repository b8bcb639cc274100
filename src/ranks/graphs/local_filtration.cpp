#include "cells/graphs/local_filtration.hpp"

#include "graphs/tree_filtration.hpp"
#include "ranks/persistence/divided_search.hpp"

namespace pnmf {

Filtration local_filtration(const DataView& points, const CellRange& cells, const FiltrationOptions& options,
                            std::uint64_t seed) {
    const DividedPoints divided(points, cells, all_processes());
    check_options(options);
    const bool scales_of_tree = options.scales.strategy == ScaleStrategy::canonical ||
                                options.scales.strategy == ScaleStrategy::sufficient;
    if (!options.neighbors || !options.batch.empty() || !scales_of_tree ||
        options.metric != Metric::euclidean || !can_search_divided(divided, options.search)) {
        return make_filtration(divided.gathered(options.metric), options, seed);
    }
    return tree_filtration(divided_tree_and_neighbors(divided, *options.neighbors, options.search, seed),
                           options, seed);
}

} // namespace pnmf
