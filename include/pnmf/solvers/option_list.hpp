#pragma once

#include <pnmf/names.hpp>
#include <pnmf/solvers/fit.hpp>

namespace pnmf {

/// The one list of a fit's options: `visit(name, field, what it is)` for each, in the order users read them.
/// It drives the program's flags, the options recorded in results, and Python's keyword arguments.
template <class Options, class Visitor>
void visit_options(Options& o, const Visitor& visit) {
    visit("rank", o.rank,
          "number of programs that describe the cells, the same at every scale [the square root of the "
          "number of cells, rounded up; at most 30 unless the preset is paper]");
    visit("lambda1", o.penalty.graph, "graph term: larger values pull neighbouring cells together");
    visit("lambda2", o.penalty.smoothness, "smoothness term: larger values make neighbouring scales alike");
    visit("lambda3", o.penalty.anchor,
          "anchor term: larger values make embeddings smaller; a value too large makes all cells the same");
    visit("alpha", o.filtration.alpha,
          "an edge of length d has the weight exp(-d^2/epsilon^alpha); only with 2 the unit of the data does "
          "not matter [2; preset paper: 1.5]");
    visit("metric", o.filtration.metric, "distance between cells");
    visit("scales", o.filtration.scales.strategy, "how scales are chosen");
    visit("max-scales", o.filtration.scales.max_scales,
          "keep at most this many scales, the finest and the coarsest among them [no limit]");
    visit("scale-error", o.scale_error,
          "keep only as many scales as stand for all. A scale may be left out when factors interpolated from "
          "its neighbours have a KKT residual of at most this [0.05; preset paper: all are kept]");
    visit("neighbors", o.filtration.neighbors,
          "join each cell to this many nearest neighbours, and along the shortest tree that joins all cells "
          "[preset cells: 8; preset points: 15 above 2,000 points; else all pairs]");
    visit(
        "search", o.filtration.search,
        "how neighbours are found. exact: all pairs; screened: first in few coordinates; clustered: within "
        "clusters, approximate; automatic: exact up to 20,000 cells, screened up to 50,000, clustered above");
    visit("algorithm", o.solver.algorithm,
          "stationary: descent until the KKT residual is small; reference: the published protocol; "
          "paper: Algorithm 1 of the paper");
    visit("start", o.start, "where the iteration begins [nested for stationary, chained otherwise]");
    visit("seeding", o.seeding, "how the first pair W, H is made");
    visit(
        "tolerance", o.solver.tolerance,
        "when to stop: the KKT residual is below this, and a sweep lowers the objective by less than a third "
        "of it [preset cells: 0.002; else 3e-4]. With stop-rule relative-decrease: the second alone, below "
        "this [1e-4]");
    visit("stop-rule", o.solver.stop, "what the tolerance is compared with");
    visit("max-sweeps", o.solver.max_sweeps, "most sweeps over all scales [1000; 10 for reference]");
    visit("inner-tolerance", o.solver.inner_tolerance,
          "reference, paper: the steps on a scale end when the relative change is below this");
    visit("inner-limit", o.solver.inner_limit, "reference, paper: most steps on a scale in a sweep");
    visit("basis-passes", o.solver.basis_passes,
          "stationary: passes over the columns of W in a sweep [4 to 16, by their cost]");
    visit("embedding-passes", o.solver.embedding_passes, "stationary: passes over the rows of H in a sweep");
    visit("extrapolate", o.solver.extrapolate, "stationary: use momentum between sweeps");
    visit("shift-components", o.solver.shift_components,
          "stationary: also move whole components of the graph at once, exactly");
    visit("device", o.solver.device,
          "where sweeps are made. auto: on a GPU where there is one and the data are large enough to gain");
    visit("seed", o.seed, "seed of everything random");
    visit("out-of-core", o.out_of_core,
          "keep large arrays in files of the folder for temporary files (TMPDIR), for data larger than "
          "memory; the result is the same. false forbids it [where memory is too small]");
}

} // namespace pnmf
