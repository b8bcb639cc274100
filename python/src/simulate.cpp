#include "arrays.hpp"
#include "module.hpp"
#include "watch.hpp"

#include <pnmf/simulate/simulate.hpp>

#include <pybind11/stl.h>

namespace pnmf::python {
namespace {

py::tuple circles(std::vector<double> radii, Index points, double noise, double minimum,
                  Index noise_dimensions, double noise_mean, double noise_deviation, bool meet_ends,
                  std::uint64_t seed) {
    Simulated data = simulate_circles({std::move(radii), points, noise, minimum, noise_dimensions, noise_mean,
                                       noise_deviation, meet_ends, seed});
    return py::make_tuple(rows_of(std::move(data.X)), array_of(data.labels));
}

py::dict cells(const py::dict& given) {
    CellsOptions options;
    const auto take = [&](const char* name, auto& field) {
        field = given[name].cast<std::remove_reference_t<decltype(field)>>();
    };
    take("cells", options.cells);
    take("genes", options.genes);
    take("types", options.types);
    take("imbalance", options.imbalance);
    take("gene_spread", options.gene_spread);
    take("changed", options.changed);
    take("fold", options.fold);
    take("depth", options.depth);
    take("depth_spread", options.depth_spread);
    take("dispersion", options.dispersion);
    take("dropout", options.dropout);
    take("seed", options.seed);
    SimulatedCells drawn;
    std::string tree;
    run_watched(
        [&](const Reporter&) {
            const CellModel model = make_cell_model(options);
            drawn = simulate_cells(model, 0, options.cells);
            tree = newick(model.tree);
        },
        py::none());
    py::dict result;
    result["counts"] = py::make_tuple(array_of(drawn.counts.value), array_of(drawn.counts.row),
                                      array_of(drawn.counts.start));
    result["types"] = array_of(drawn.types);
    result["newick"] = tree;
    return result;
}

py::dict branches(const py::dict& given) {
    BranchesOptions options;
    const auto take = [&](const char* name, auto& field) {
        field = given[name].cast<std::remove_reference_t<decltype(field)>>();
    };
    take("cells", options.cells.cells);
    take("genes", options.cells.genes);
    take("ends", options.ends);
    take("steps", options.steps);
    take("changed", options.cells.changed);
    take("fold", options.cells.fold);
    take("depth", options.cells.depth);
    take("dispersion", options.cells.dispersion);
    take("dropout", options.cells.dropout);
    take("seed", options.cells.seed);
    SimulatedCells drawn;
    BranchesModel model;
    run_watched(
        [&](const Reporter&) {
            model = make_branches_model(options);
            drawn = simulate_cells(model.cells, 0, options.cells.cells);
        },
        py::none());
    std::vector<double> time;
    std::vector<Index> branch;
    for (const Index place : drawn.types) {
        time.push_back(model.time[static_cast<std::size_t>(place)]);
        branch.push_back(model.branch[static_cast<std::size_t>(place)]);
    }
    py::dict result;
    result["counts"] = py::make_tuple(array_of(drawn.counts.value), array_of(drawn.counts.row),
                                      array_of(drawn.counts.start));
    result["time"] = array_of(time);
    result["branch"] = array_of(branch);
    result["reaches"] = model.reaches;
    result["newick"] = newick(model.cells.tree);
    return result;
}

} // namespace

void bind_simulate(py::module_& module) {
    py::module_ simulate = module.def_submodule("simulate");
    simulate.def("circles", &circles);
    simulate.def("cells", &cells);
    simulate.def("branches", &branches);
}

} // namespace pnmf::python
