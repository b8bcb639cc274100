#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/solvers/embed.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// New cells at one scale of a fit.
struct TransformedScale {
    Index scale = 0; ///< position, from 0
    double epsilon = 0.0;
    EmbeddedCells<double> cells; ///< H is d × new cells
    Index with_neighbours = 0;   ///< new cells that the graph joins with some cell of the fit
};

/// Embeds new cells with the bases of a fit, at each of these scales (`embed_cells`).
///
/// `fresh` has the features of the result, in its order, prepared as the fit's data were (`read_new_cells`).
/// With the data of the fit (`read_data_of`) the graph term between new cells and those of the fit takes
/// part; without, each cell is embedded alone. InputError when the result has no basis of a scale (that of
/// the recommended one is always there), or for the graph not all cells of the fit.
std::vector<TransformedScale> transform_cells(const StoredResult& result, const Dataset& fresh,
                                              const std::vector<Index>& scales,
                                              const Dataset* data_of_fit = nullptr);

} // namespace pnmf
