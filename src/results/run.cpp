#include <pnmf/error.hpp>
#include <pnmf/results/assess_fit.hpp>
#include <pnmf/results/run.hpp>

namespace pnmf {
namespace {

Index cells_of(const DataView& X) {
    const auto* dense = std::get_if<DenseView<double>>(&X);
    return dense != nullptr ? dense->cols() : std::get<SparseView<double>>(X).cols;
}

void check_clusters(std::optional<Index> clusters, Index cells) {
    require(!clusters || (*clusters >= 1 && *clusters <= cells),
            "clusters must be between 1 and the number of cells, {}, got {}", cells, clusters.value_or(0));
}

} // namespace

template <class Real>
Run<Real> run_fit(const DataView& X, const RunOptions& options, const Observer& observer) {
    check_clusters(options.clusters, cells_of(X));
    Run<Real> run;
    run.prepared = prepare_fit<Real>(X, options.fit);
    const Problem<Real> problem = run.prepared.problem();
    const SolverOptions& solver = run.prepared.options.solver;
    auto state = start_solver(problem, solver, make_start(run.prepared, observer));
    const Stop stop = run_solver(problem, solver, state, observer);
    run.result = finish_fit(run.prepared, std::move(state), stop);
    run.assessment =
        assess_fit(run.prepared, run.result, {.clusters = options.clusters, .seed = options.fit.seed});
    return run;
}

template <class Real>
Run<Real> run_fit(const DataValues& X, const RunOptions& options, const Observer& observer) {
    return run_fit<Real>(view_of(X), options, observer);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template Run<Real> run_fit(const DataView&, const RunOptions&, const Observer&);                         \
    template Run<Real> run_fit(const DataValues&, const RunOptions&, const Observer&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
