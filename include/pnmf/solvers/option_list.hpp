#pragma once

#include <pnmf/names.hpp>
#include <pnmf/solvers/fit.hpp>

namespace pnmf {

/// The one list of a fit's options: `visit(name, field, what it is)` for each, in the order users read them.
/// It drives the program's flags, the options recorded in results, and Python's keyword arguments.
template <class Options, class Visitor>
void visit_options(Options& o, const Visitor& visit) {
    visit("rank", o.rank, "d, rows of every embedding [ceil(sqrt(cells)), at most min(features, cells)]");
    visit("lambda1", o.penalty.graph, "weight of the graph term: pulls neighbours at one scale together");
    visit("lambda2", o.penalty.smoothness, "weight of the smoothness term: makes neighbouring scales alike");
    visit("lambda3", o.penalty.anchor,
          "weight of the anchor term: shrinks embeddings; too large collapses them");
    visit("alpha", o.filtration.alpha,
          "edge weights are exp(-d^2/epsilon^alpha); unless 2, depends on the unit of the data");
    visit("metric", o.filtration.metric, "distance between cells");
    visit("scales", o.filtration.scales.strategy, "how scales are chosen");
    visit("max-scales", o.filtration.scales.max_scales,
          "keep at most this many scales, finest and coarsest among them; stationary divides lambda2 by the "
          "square of the step between them [all]");
    visit("scale-error", o.scale_error,
          "keep only as many scales as stand for all: the largest KKT residual allowed at a scale that is "
          "left out [all scales are kept]");
    visit("neighbors", o.filtration.neighbors,
          "graph of k nearest neighbours and the spanning tree [all pairs]");
    visit(
        "search", o.filtration.search,
        "how neighbours are found: exact, screened in few coordinates, or clustered, with a spanning tree of "
        "what is found; automatic: by the number of cells, up to 20,000, up to 50,000, above");
    visit("algorithm", o.solver.algorithm,
          "stationary: descent to a certificate; reference: the published protocol; "
          "paper: Algorithm 1");
    visit("start", o.start, "where the iteration begins [nested for stationary, chained otherwise]");
    visit("seeding", o.seeding, "how the first pair W, H is made");
    visit("tolerance", o.solver.tolerance,
          "when to stop: KKT residual (and a third of it: relative decrease), or relative decrease "
          "[3e-4; 1e-4 for relative decrease]");
    visit("stop-rule", o.solver.stop, "what the tolerance is compared with");
    visit("max-sweeps", o.solver.max_sweeps, "most sweeps over all scales [1000; 10 for reference]");
    visit("inner-tolerance", o.solver.inner_tolerance,
          "reference, paper: relative change that ends a scale's steps");
    visit("inner-limit", o.solver.inner_limit, "reference, paper: most steps on a scale in a sweep");
    visit("basis-passes", o.solver.basis_passes,
          "stationary: passes over the columns of W in a sweep [4 to 16, by their cost]");
    visit("embedding-passes", o.solver.embedding_passes, "stationary: passes over the rows of H in a sweep");
    visit("extrapolate", o.solver.extrapolate, "stationary: momentum between sweeps");
    visit("shift-components", o.solver.shift_components, "stationary: exact steps along the merge tree");
    visit("device", o.solver.device,
          "stationary: where sweeps are made; auto: a GPU where there is one and the data gain by it");
    visit("seed", o.seed, "for everything random");
}

} // namespace pnmf
