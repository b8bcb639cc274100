#include <pnmf/simulate/simulate.hpp>

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>

namespace pnmf {

SimulatedTissue simulate_tissue(const TissueOptions& options) {
    constexpr std::uint64_t place_stream = 17; // those of the cells come before
    require(options.layers >= 1, "there must be at least 1 layer, got {}", options.layers);
    require(options.mixing >= 0.0 && options.mixing <= 1.0, "mixing must be between 0 and 1, got {}",
            options.mixing);
    const CellModel model = make_cell_model(options.cells);
    SimulatedTissue tissue{.cells = simulate_cells(model, 0, options.cells.cells)};
    Random random = Random(options.cells.seed).fork(place_stream);
    tissue.places.resize(2, options.cells.cells);
    for (Index j = 0; j < options.cells.cells; ++j) {
        const Index home = tissue.cells.types[static_cast<std::size_t>(j)] % options.layers;
        const bool anywhere = random.uniform() < options.mixing;
        const Index other = random.below(options.layers);
        const Index layer = anywhere ? other : home;
        tissue.layers.push_back(layer);
        tissue.places(0, j) = static_cast<double>(options.layers) * random.uniform();
        tissue.places(1, j) = static_cast<double>(layer) + random.uniform();
    }
    return tissue;
}

} // namespace pnmf
