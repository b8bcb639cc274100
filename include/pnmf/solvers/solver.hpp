#pragma once

#include <pnmf/model/objective.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/names.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/types.hpp>

#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pnmf {

enum class Algorithm {
    stationary, ///< block coordinate descent on the model with unit columns of W, to a KKT certificate
    reference,  ///< the published protocol, step by step
    paper,      ///< Algorithm 1 of the paper
};

template <>
struct EnumNames<Algorithm> {
    static constexpr auto values = name_table<Algorithm>({{"stationary", Algorithm::stationary},
                                                          {"reference", Algorithm::reference},
                                                          {"paper", Algorithm::paper}});
};

/// When `stationary` and `paper` stop before the sweep limit.
enum class StopRule {
    certificate,       ///< the KKT residual of all scales together is at most the tolerance, and the last
                       ///< sweep lowered the objective by at most a third of it, relative
    relative_decrease, ///< a sweep lowers the objective by at most the tolerance, relative
};

template <>
struct EnumNames<StopRule> {
    static constexpr auto values = name_table<StopRule>(
        {{"certificate", StopRule::certificate}, {"relative-decrease", StopRule::relative_decrease}});
};

/// Where the sweeps of `stationary` are made.
enum class Device {
    automatic, ///< a GPU where this build can use one, the machine has one and the problem gains by it
    cpu,
    cuda, ///< a CUDA device, or InputError
};

template <>
struct EnumNames<Device> {
    static constexpr auto values =
        name_table<Device>({{"auto", Device::automatic}, {"cpu", Device::cpu}, {"cuda", Device::cuda}});
};

struct SolverOptions {
    Algorithm algorithm = Algorithm::stationary;
    bool extrapolate = true;      ///< stationary: momentum between sweeps, restarted when it does not pay
    bool shift_components = true; ///< stationary: exact steps along the merge tree's components
    std::optional<Index> basis_passes{}; ///< stationary: passes over the columns of W in a sweep; XHᵀ serves
                                         ///< all. Default: `default_basis_passes()`
    int embedding_passes = 2; ///< stationary: passes over the rows of H in a sweep; WᵀX serves all
    StopRule stop = StopRule::certificate; ///< paper: relative_decrease is its own rule
    std::optional<double> tolerance{};     ///< default: `default_tolerance()`
    std::optional<Index> max_sweeps{};     ///< default: `default_max_sweeps()`
    double inner_tolerance = 1e-3;     ///< reference, paper: relative change that ends the steps on one scale
    Index inner_limit = 1000;          ///< reference, paper: most steps on one scale in one sweep
    Device device = Device::automatic; ///< stationary: where the sweeps are made
};

/// The devices of this build that `stationary` can run on, "cpu" first.
std::vector<std::string> devices();

/// InputError unless every number is in its range and the device is there.
void check_options(const SolverOptions& options);

double default_tolerance(const SolverOptions& options);
Index default_max_sweeps(const SolverOptions& options);

/// Scales whose products with X `stationary` makes together: several where threads have enough to do all the
/// same. Not by the number of threads, so that bits do not depend on it.
Index scales_at_once(Index scales, Index cells, bool dense);

/// The form of W in which an algorithm's residuals are judged.
BasisForm form_of(Algorithm algorithm);

/// As many passes over W as take about half as long as the products with X were it dense, 4 to 16
/// (docs/decisions/0070-stationary-solver.md).
Index default_basis_passes(Index cells, Index rank);

/// What is known after a sweep.
struct SweepReport {
    Index sweep = 0; ///< 0 is the start
    Objective objective;
    KktResidual residual; ///< of all scales together; W's at the point the sweep began, until the run ends
    Index inner_steps = 0;
    bool restarted = false; ///< the extrapolated sweep did not pay and was undone
    bool converged = false; ///< the run ends with this sweep, whatever the observer says
    /// Call it before you read the factors of the state in an observer: they may be on a device, and what the
    /// state holds may be old. Free on the CPU. When `run_solver` returns they have been brought.
    std::function<void()> bring_factors = [] {};
};

/// What is known after one update inside a sweep: for the paper's convergence figure.
struct StepReport {
    Index sweep = 0;
    Index scale = 0; ///< −1 when all scales moved at once
    Index step = 0;
    double objective = 0.0; ///< of the whole problem
};

/// Called by the solver; each may be empty. `sweep` and `starting` return false to stop.
struct Observer {
    std::function<bool(const SweepReport&)> sweep{};
    std::function<void(const StepReport&)> step{};
    std::function<bool()> starting{}; ///< now and then while the start is made; stopping throws Interrupted
};

/// Thrown when the observer says stop by what has nothing to return yet: the start of a solver, a whole run.
class Interrupted : public std::runtime_error {
  public:
    Interrupted() : Interrupted("interrupted before the first sweep", false) {}
    Interrupted(const std::string& when, bool saved) : std::runtime_error(when), saved_(saved) {}

    /// Whether the run can be resumed from a checkpoint that holds all of it.
    bool saved() const { return saved_; }

  private:
    bool saved_;
};

enum class Stop { converged, sweep_limit, interrupted };

template <>
struct EnumNames<Stop> {
    static constexpr auto values = name_table<Stop>({{"converged", Stop::converged},
                                                     {"sweep limit", Stop::sweep_limit},
                                                     {"interrupted", Stop::interrupted}});
};

/// Momentum of one scale between the sweeps of `stationary`.
struct ScaleMomentum {
    double t = 1.0;                                             ///< Nesterov's; 1 is none
    double objective = std::numeric_limits<double>::infinity(); ///< the scale's terms after the last sweep
};

/// Everything a run needs to go on: save it, load it, continue, and the bits are those of one run.
template <RealNumber Real>
struct SolverState {
    Factors<Real> current;
    Factors<Real> previous;              ///< before the last sweep; empty unless `stationary` extrapolates
    std::vector<ScaleMomentum> momentum; ///< of each scale; empty before the first sweep
    std::vector<KktResidual> residuals; ///< of each scale at `current`, where they were evaluated; else empty
    std::vector<Objective> trace;       ///< after each sweep, start first
    std::vector<Index> inner_steps;     ///< reference, paper: sweeps × T, in order
};

/// A state at the start of a run. Checks shapes and values; for `stationary` makes the columns of W unit.
/// `judge`: with its residuals, at twice the work, unless those of H alone are above the tolerance already.
/// When no sweep is to follow they are always there.
template <class Real>
SolverState<Real> start_solver(const Problem<Real>& problem, const SolverOptions& options,
                               Factors<Real> start, bool judge = false);

/// The solver loop: sweeps until the rule, the limit (counted from the start of the run) or the observer says
/// stop.
template <class Real>
Stop run_solver(const Problem<Real>& problem, const SolverOptions& options, SolverState<Real>& state,
                const Observer& observer = {});

/// Algorithm 1's last step, eq. (normalize): columns of W sum to 1, W·H is kept. A zero column stays.
template <class Real>
void normalize_column_sums(Factors<Real>& factors);

} // namespace pnmf
