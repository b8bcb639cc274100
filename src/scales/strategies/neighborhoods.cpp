#include <pnmf/error.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <algorithm>
#include <vector>

namespace pnmf {
namespace {

constexpr double margin = 1.1; ///< more than the distances of a ring of a grid differ by rounding
/// Neighbourhoods that double get wider by less than this: by √2 in a layer of cells, by 2 in a line. Beyond,
/// the lists have left the tissue: what they name is in another slice (`separate_samples`).
constexpr double widest_step = 5.0;
constexpr double settled = 4.0; ///< neighbours from which on that is so; fewer may be doublets

} // namespace

ScaleSet choose_neighborhoods(const ScaleSource& source) {
    if (source.tree.cells < 3) {
        return canonical_scales(source.tree);
    }
    require(source.neighbors != nullptr,
            "scales of neighbourhoods need a graph of nearest neighbours: give their number");
    const std::vector<Edge>& edges =
        *source.neighbors; // each once: m of them are 2m / n neighbours of a cell
    const auto n = static_cast<double>(source.tree.cells);
    const auto apart = std::find_if(edges.begin(), edges.end(), [](const Edge& e) { return e.length > 0.0; });
    if (apart == edges.end()) {
        return canonical_scales(source.tree); // all cells at one place
    }
    std::vector<double> epsilon{apart->length}; // strict: no neighbours but those at the same place
    double before = apart->length;
    for (double wanted = 1.0; wanted * n <= static_cast<double>(edges.size()); wanted *= 2.0) {
        const double length = edges[static_cast<std::size_t>(0.5 * wanted * n)].length;
        if (wanted > settled && length > widest_step * before) {
            break;
        }
        before = std::max(before, length);
        if (length >= epsilon.back()) {
            epsilon.push_back(margin * length);
        }
    }
    return full_set(std::move(epsilon), source.tree);
}

} // namespace pnmf
