#include <pnmf/results/result_file.hpp>
#include <pnmf/run/checkpoint.hpp>
#include <pnmf/simulate/simulate.hpp>
#include <pnmf/solvers/fit.hpp>

#include <cstdio>
#include <filesystem>

/// Watches a fit sweep by sweep, stops it, saves it, goes on from the file, and compares with a run that was
/// never stopped. The argument is the file for the checkpoint.
int main(int argc, char** argv) {
    const std::filesystem::path file = argc > 1 ? argv[1] : "pause_and_resume.checkpoint";
    const pnmf::DataValues X = pnmf::simulate_circles().X;
    pnmf::FitOptions options;
    options.rank = 2;
    options.start = pnmf::Start::broadcast;
    options.filtration.scales.max_scales = 5;
    options.solver.max_sweeps = 8;

    // Scales and graphs once; they serve every run.
    const pnmf::PreparedFit<double> prepared = pnmf::prepare_fit<double>(X, options);
    const pnmf::Problem<double> problem = prepared.problem();
    const pnmf::Factors<double> start = pnmf::make_start(prepared);

    pnmf::Observer watch;
    watch.sweep = [](const pnmf::SweepReport& report) {
        std::printf("sweep %td: objective %.2e\n", report.sweep, report.objective.total());
        return report.sweep < 3; // false stops the run, with everything it needs to go on
    };
    pnmf::SolverState<double> state = pnmf::start_solver(problem, options.solver, start);
    const bool stopped = pnmf::run_solver(problem, options.solver, state, watch) == pnmf::Stop::interrupted;
    std::printf("%s\n", stopped ? "stopped by the observer" : "not stopped");
    const std::string fingerprint = pnmf::run_fingerprint(options, X);
    pnmf::save_checkpoint(file, state, fingerprint);

    pnmf::SolverState<double> resumed = pnmf::load_checkpoint<double>(file, fingerprint);
    watch.sweep = [](const pnmf::SweepReport& report) {
        std::printf("sweep %td: objective %.2e\n", report.sweep, report.objective.total());
        return true;
    };
    pnmf::run_solver(problem, options.solver, resumed, watch);

    pnmf::SolverState<double> whole = pnmf::start_solver(problem, options.solver, start);
    pnmf::run_solver(problem, options.solver, whole);
    const bool equal = whole.trace.back().total() == resumed.trace.back().total() &&
                       whole.current.H == resumed.current.H && whole.current.W == resumed.current.W;
    std::printf("%s\n", equal ? "the same bits as one uninterrupted run" : "not the uninterrupted run");
}
