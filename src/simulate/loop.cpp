#include <pnmf/simulate/simulate.hpp>

#include "simulate/cell_tree.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>

#include <cmath>
#include <numbers>

namespace pnmf {

LoopModel make_loop_model(const LoopCellsOptions& options) {
    constexpr std::uint64_t wave_stream = 23; // those of the cells come before
    constexpr double circle = 2.0 * std::numbers::pi;
    check_cells_options(options.cells);
    require(options.steps >= 1, "a loop must have at least 1 place, got {}", options.steps);
    LoopModel model;
    CellModel& cells = model.cells;
    cells.options = options.cells;
    cells.options.types = options.steps;
    cells.tree = random_cell_tree(1, options.cells);
    const Vector mean = node_log_profiles(cells.tree, options.cells).col(0);
    const Index genes = options.cells.genes;
    Vector amplitude = Vector::Zero(genes);
    Vector peak = Vector::Zero(genes);
    Random random = Random(options.cells.seed).fork(wave_stream);
    for (Index g = 0; g < genes; ++g) {
        const bool follows = random.uniform() < options.cells.changed;
        const double size = options.cells.fold * random.normal();
        peak[g] = circle * random.uniform();
        amplitude[g] = follows ? size : 0.0;
    }
    cells.proportions = Vector::Constant(options.steps, 1.0 / static_cast<double>(options.steps));
    cells.profile.resize(genes, options.steps);
    for (Index step = 0; step < options.steps; ++step) {
        const double phase = circle * static_cast<double>(step) / static_cast<double>(options.steps);
        model.phase.push_back(phase);
        const Vector wave = amplitude.array() * (phase - peak.array()).cos();
        cells.profile.col(step) = shares_of_genes(mean + wave);
    }
    return model;
}

} // namespace pnmf
