#pragma once

#include "graphs/sparse_graph.hpp"
#include "solvers/method.hpp"
#include "solvers/plain_backend.hpp"
#include "support/paths.hpp"
#include "support/problems.hpp"

#include <pnmf/persistence/distances.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

/// What every backend is held to. A backend's test names its maker and calls
///
///     INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, BackendBody, ::testing::Types<MakeCpu<float>, MakeCpu<double>>);
///
/// A maker has the type `Real` and `std::unique_ptr<Backend<Real>> make(const Problem<Real>&)`, static. One
/// whose device may be missing has `std::string why_not()` too: where it says something, the tests are
/// skipped with it.
namespace pnmf::test {

constexpr Index body_sweeps = 16;

/// How far a backend may be from its twin after some sweeps, relative to the objective.
template <class Real>
constexpr double twin_slack() {
    return std::is_same_v<Real, float> ? 1e-5 : 1e-10;
}

/// A problem of the body, and what is switched on in the sweeps.
struct BodyCase {
    Index scales = 5;
    bool sparse = false;     ///< X
    bool neighbours = false; ///< graph of three nearest neighbours and the tree; else all pairs
    bool uneven = false;     ///< weights and couplings that differ from scale to scale
    bool extrapolate = true;
    bool shifts = true;

    std::string name() const {
        return std::to_string(scales) + " scales" + (sparse ? ", sparse" : "") +
               (neighbours ? ", neighbours" : "") + (uneven ? ", uneven" : "") +
               (extrapolate ? ", momentum" : "") + (shifts ? ", shifts" : "");
    }
    SolverOptions options() const {
        return {.extrapolate = extrapolate,
                .shift_components = shifts,
                .tolerance = 0.0,
                .max_sweeps = body_sweeps};
    }
};

inline std::vector<BodyCase> body_cases() {
    std::vector<BodyCase> cases;
    for (const Index scales : {1, 5}) {
        for (int bits = 0; bits < 32; ++bits) {
            const BodyCase made{scales,          (bits & 1) != 0, (bits & 2) != 0,
                                (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0};
            cases.push_back(made);
        }
    }
    return cases;
}

/// Edges to the `count` nearest cells of each cell, but for those that are in the tree.
inline std::vector<Edge> nearest_edges(const Points& points, Index count, const SpanningTree& tree) {
    std::vector<Edge> edges;
    for (Index j = 0; j < points.count(); ++j) {
        std::vector<Edge> all;
        for (Index i = 0; i < points.count(); ++i) {
            if (i != j) {
                all.push_back({points.distance(i, j), std::min(i, j), std::max(i, j)});
            }
        }
        std::sort(all.begin(), all.end());
        edges.insert(edges.end(), all.begin(), all.begin() + count);
    }
    // In single precision their lengths differ from the tree's by rounding, and an edge may be there but
    // once.
    std::erase_if(edges, [&](const Edge& edge) {
        return std::any_of(tree.edges.begin(), tree.edges.end(),
                           [&](const Edge& other) { return other.i == edge.i && other.j == edge.j; });
    });
    return edges;
}

template <class Real>
struct BodyProblem {
    OwnedProblem<Real> owned;
    Problem<Real> problem;
    Factors<Real> start;
};

template <class Real>
BodyProblem<Real> body_problem(const BodyCase& of) {
    BodyProblem<Real> made;
    made.owned = random_problem<Real>({.features = 14, .cells = 21, .scales = of.scales, .sparse = of.sparse},
                                      {0.8, 0.6, 0.05}, 77);
    if (of.neighbours) {
        const Points points(made.owned.values());
        const SpanningTree tree = made.owned.graph->tree();
        made.owned.graph = std::make_unique<SparseMultiscaleGraph>(tree, nearest_edges(points, 3, tree), 1.5);
    }
    made.problem = made.owned.problem();
    if (of.uneven) {
        for (Index t = 0; t < of.scales; ++t) {
            made.problem.weight.push_back(0.5 + 1.5 * static_cast<double>((3 * t) % 5));
        }
        for (Index t = 0; t + 1 < of.scales; ++t) {
            made.problem.smoothness.push_back(t == 2 ? 0.0 : 2.0 / static_cast<double>(1 + t));
        }
    }
    made.start = random_factors(made.problem, 3, 78);
    return made;
}

/// A run of the body's sweeps from its start.
template <class Real>
struct BodyRun {
    SolverState<Real> state;
    std::vector<SweepReport> reports;
};

template <class Real>
BodyRun<Real> run_body(std::unique_ptr<Backend<Real>> backend, const BodyProblem<Real>& made,
                       const SolverOptions& options) {
    BodyRun<Real> run{start_solver(made.problem, options, made.start), {}};
    run_solver_on(std::move(backend), made.problem, options, run.state,
                  {.sweep = [&](const SweepReport& report) {
                      run.reports.push_back(report);
                      return true;
                  }});
    return run;
}

template <class Maker>
class BackendBody : public ::testing::Test {
  public:
    void SetUp() override {
        if constexpr (requires { Maker::why_not(); }) {
            if (const std::string reason = Maker::why_not(); !reason.empty()) {
                GTEST_SKIP() << reason;
            }
        }
    }
    static auto make(const Problem<typename Maker::Real>& problem) { return Maker::make(problem); }
};
TYPED_TEST_SUITE_P(BackendBody);

TYPED_TEST_P(BackendBody, FollowsThePlainTwinSweepBySweep) {
    using Real = typename TypeParam::Real;
    for (const BodyCase& of : body_cases()) {
        SCOPED_TRACE(of.name());
        const auto made = body_problem<Real>(of);
        const auto found = run_body(TestFixture::make(made.problem), made, of.options());
        const auto twin =
            run_body<Real>(std::make_unique<PlainBackend<Real>>(made.problem), made, of.options());
        ASSERT_EQ(found.state.trace.size(), static_cast<std::size_t>(body_sweeps) + 1);
        ASSERT_EQ(twin.state.trace.size(), found.state.trace.size());
        const double slack = twin_slack<Real>() * twin.state.trace.back().total();
        // Near a minimum the sum hardly feels that a point has drifted; its terms do.
        const double slack_of_terms = 10.0 * slack;
        // In single precision rounding may decide a restart, and from there on the points are others.
        const std::size_t sweeps = twin.reports.size();
        std::size_t alike = 0;
        while (alike < sweeps && found.reports[alike].restarted == twin.reports[alike].restarted) {
            ++alike;
        }
        constexpr bool rounds_early = std::is_same_v<Real, float>;
        EXPECT_GE(alike, rounds_early ? sweeps / 2 : sweeps);
        for (std::size_t s = 0; s <= alike; ++s) {
            const Objective& a = found.state.trace[s];
            const Objective& b = twin.state.trace[s];
            EXPECT_NEAR(a.total(), b.total(), slack) << "sweep " << s;
            EXPECT_NEAR(a.fit, b.fit, slack_of_terms) << "sweep " << s;
            EXPECT_NEAR(a.graph, b.graph, slack_of_terms) << "sweep " << s;
            EXPECT_NEAR(a.smoothness, b.smoothness, slack_of_terms) << "sweep " << s;
            EXPECT_NEAR(a.anchor, b.anchor, slack_of_terms) << "sweep " << s;
        }
        for (std::size_t s = 0; s < alike; ++s) {
            EXPECT_NEAR(found.reports[s].residual.certificate(), twin.reports[s].residual.certificate(),
                        100.0 * twin_slack<Real>())
                << "sweep " << s;
        }
    }
}

TYPED_TEST_P(BackendBody, NeverRaisesTheObjective) {
    using Real = typename TypeParam::Real;
    const double slack = std::is_same_v<Real, float> ? 1e-6 : 1e-13;
    for (const BodyCase& of : body_cases()) {
        SCOPED_TRACE(of.name());
        const auto made = body_problem<Real>(of);
        auto state = start_solver(made.problem, of.options(), made.start);
        double last = state.trace.back().total();
        Observer observer;
        if (!of.extrapolate) { // momentum moves between the steps
            observer.step = [&](const StepReport& report) {
                EXPECT_LE(report.objective, last * (1.0 + slack)) << "sweep " << report.sweep;
                last = report.objective;
            };
        }
        run_solver_on(TestFixture::make(made.problem), made.problem, of.options(), state, observer);
        for (std::size_t s = 1; s < state.trace.size(); ++s) {
            EXPECT_LE(state.trace[s].total(), state.trace[s - 1].total() * (1.0 + slack)) << "sweep " << s;
        }
        EXPECT_LT(state.trace.back().total(), state.trace.front().total());
        for (Index t = 0; t < of.scales; ++t) {
            EXPECT_GE(std::min(state.current.W[t].minCoeff(), state.current.H[t].minCoeff()), Real{0});
            EXPECT_LT((state.current.W[t].colwise().norm().array() - Real{1}).abs().maxCoeff(), 1e-5);
        }
    }
}

/// What the sweep reports on the way is what the model finds from the factors.
TYPED_TEST_P(BackendBody, MeasuresWhatTheFactorsAloneSay) {
    using Real = typename TypeParam::Real;
    const double slack = std::is_same_v<Real, float> ? 1e-3 : 1e-9;
    const auto near = [&](const Movement& a, const Movement& b) {
        EXPECT_NEAR(a.moved / b.moved, 1.0, slack);
        EXPECT_NEAR(a.size / b.size, 1.0, slack);
    };
    for (const BodyCase& of : body_cases()) {
        if (of.extrapolate) {
            continue;
        }
        SCOPED_TRACE(of.name());
        const auto made = body_problem<Real>(of);
        auto state = start_solver(made.problem, of.options(), made.start);
        const auto at_start = kkt_residuals(made.problem, state.current, BasisForm::unit_columns);
        const auto backend = TestFixture::make(made.problem);
        backend->load(state.current, state.previous);
        EXPECT_NEAR(backend->objective().total() / state.trace.front().total(), 1.0, slack);
        backend->move_in_place();
        const std::vector<Movement> moved_W = backend->basis_step(2);
        backend->graph_products();
        backend->embedding_pass();
        backend->graph_products();
        const std::vector<Movement> moved_H = backend->movement_H();
        const Evaluation found = backend->evaluate();
        Objective total;
        for (const Objective& term : backend->terms()) {
            total = total + term;
        }
        backend->store();
        const Evaluation expected = evaluate(made.problem, state.current, BasisForm::unit_columns);
        EXPECT_NEAR(total.total() / expected.objective.total(), 1.0, slack);
        EXPECT_NEAR(found.objective.total() / expected.objective.total(), 1.0, slack);
        for (Index t = 0; t < of.scales; ++t) {
            near(moved_W[t], at_start[t].W);
            near(moved_H[t], expected.residuals[t].H);
            near(found.residuals[t].H, expected.residuals[t].H);
            near(found.residuals[t].W, expected.residuals[t].W);
        }
    }
}

TYPED_TEST_P(BackendBody, GivesBackTheBitsItWasGiven) {
    using Real = typename TypeParam::Real;
    const auto made = body_problem<Real>({});
    const TemporaryFolder folder;
    for (const bool in_file : {false, true}) {
        Factors<Real> current = empty_factors<Real>(made.problem.scales(), made.problem.features(),
                                                    made.start.rank(), in_file ? folder.path() : "");
        current.W = made.start.W;
        current.H = made.start.H;
        for (Index t = 0; t < current.scales(); ++t) {
            current.rest(t);
        }
        Factors<Real> previous = random_factors(made.problem, 3, 5);
        const Factors<Real> kept = previous;
        const auto backend = TestFixture::make(made.problem);
        backend->load(current, previous);
        backend->store();
        EXPECT_EQ(current.H, made.start.H);
        EXPECT_EQ(previous.W, kept.W);
        EXPECT_EQ(previous.H, kept.H);
        for (Index t = 0; t < current.scales(); ++t) {
            DenseMatrix<Real> buffer;
            EXPECT_EQ(current.basis(t, buffer), made.start.W[t]);
            EXPECT_EQ(current.W[t].size() == 0, in_file);
        }
    }
}

TYPED_TEST_P(BackendBody, GoesOnFromAStoppedRunToTheSameBits) {
    using Real = typename TypeParam::Real;
    for (const bool extrapolate : {false, true}) {
        const BodyCase of{.neighbours = true, .extrapolate = extrapolate};
        const auto made = body_problem<Real>(of);
        const auto whole = run_body(TestFixture::make(made.problem), made, of.options()).state;
        auto state = start_solver(made.problem, of.options(), made.start);
        SolverState<Real> saved; // as a checkpoint would be, in the middle of a run that goes on
        run_solver_on(TestFixture::make(made.problem), made.problem, of.options(), state,
                      {.sweep = [&](const SweepReport& report) {
                          if (report.sweep == 7) {
                              report.bring_factors();
                              saved = state;
                          }
                          return report.sweep < 9;
                      }});
        for (SolverState<Real>* stopped : {&saved, &state}) {
            run_solver_on(TestFixture::make(made.problem), made.problem, of.options(), *stopped);
            EXPECT_EQ(stopped->current.W, whole.current.W);
            EXPECT_EQ(stopped->current.H, whole.current.H);
            ASSERT_EQ(stopped->trace.size(), whole.trace.size());
            for (std::size_t s = 0; s < whole.trace.size(); ++s) {
                EXPECT_EQ(stopped->trace[s].total(), whole.trace[s].total());
            }
        }
    }
}

TYPED_TEST_P(BackendBody, UndoLeavesTheLastAcceptedPoint) {
    using Real = typename TypeParam::Real;
    const auto made = body_problem<Real>({});
    auto state = start_solver(made.problem, SolverOptions{}, made.start);
    const Factors<Real> before = state.current;
    const auto backend = TestFixture::make(made.problem);
    backend->load(state.current, state.previous);
    backend->move_copy();
    backend->basis_step(3);
    backend->graph_products();
    backend->embedding_pass();
    backend->undo();
    backend->store();
    EXPECT_EQ(state.current.W, before.W);
    EXPECT_EQ(state.current.H, before.H);
}

/// One sweep of all scales, then two with some of them frozen.
template <class Real>
BodyRun<Real> run_with_frozen(Backend<Real>& backend, const BodyProblem<Real>& made,
                              const FrozenScales& frozen, Factors<Real>& as_frozen) {
    BodyRun<Real> run{start_solver(made.problem, SolverOptions{}, made.start), {}};
    backend.load(run.state.current, run.state.previous);
    for (int sweep = 0; sweep < 3; ++sweep) {
        if (sweep == 1) {
            backend.freeze(frozen);
            backend.store();
            as_frozen = run.state.current;
        }
        if (sweep == 2) {
            backend.extrapolate(std::vector<double>(frozen.size(), 0.3));
        } else {
            backend.move_copy();
        }
        const std::vector<Movement> moved_W = backend.basis_step(2);
        backend.graph_products();
        backend.embedding_pass();
        backend.graph_products();
        backend.shift_components();
        SweepReport report;
        for (const Objective& term : backend.terms()) {
            report.objective = report.objective + term;
        }
        const std::vector<Movement> moved_H = backend.movement_H();
        for (std::size_t t = 0; t < moved_H.size(); ++t) {
            report.residual += {moved_H[t], moved_W[t]};
        }
        backend.accept();
        run.reports.push_back(report);
    }
    run.state.residuals = backend.evaluate().residuals;
    backend.store();
    return run;
}

TYPED_TEST_P(BackendBody, FrozenScalesStayAndTheOthersFollowThePlainTwin) {
    using Real = typename TypeParam::Real;
    for (const FrozenScales& frozen :
         {FrozenScales{0, 1, 0, 0, 0}, FrozenScales{1, 1, 0, 1, 0}, FrozenScales{1, 1, 1, 1, 0},
          FrozenScales{0, 0, 0, 0, 1}, FrozenScales{1, 1, 1, 1, 1}}) {
        for (const bool neighbours : {false, true}) {
            const auto made = body_problem<Real>({.neighbours = neighbours, .uneven = neighbours});
            const auto backend = TestFixture::make(made.problem);
            if (!backend->can_freeze()) {
                return;
            }
            Factors<Real> stayed;
            const auto found = run_with_frozen(*backend, made, frozen, stayed);
            PlainBackend<Real> plain(made.problem);
            Factors<Real> twin_stayed;
            const auto twin = run_with_frozen(plain, made, frozen, twin_stayed);
            const double slack = twin_slack<Real>();
            for (std::size_t s = 0; s < twin.reports.size(); ++s) {
                EXPECT_NEAR(found.reports[s].objective.total() / twin.reports[s].objective.total(), 1.0,
                            slack);
                EXPECT_NEAR(found.reports[s].residual.certificate(), twin.reports[s].residual.certificate(),
                            100.0 * slack);
            }
            EXPECT_NEAR(sum(found.state.residuals).certificate(), sum(twin.state.residuals).certificate(),
                        100.0 * slack);
            EXPECT_LE(found.reports[1].objective.total(), found.reports[0].objective.total() * (1.0 + slack));
            for (Index t = 0; t < made.problem.scales(); ++t) {
                const bool same_H = found.state.current.H[t] == stayed.H[t];
                const bool same_W = found.state.current.W[t] == stayed.W[t];
                EXPECT_EQ(same_H, is_frozen(frozen, t)) << "scale " << t;
                EXPECT_EQ(same_W, is_frozen(frozen, t)) << "scale " << t;
            }
        }
    }
}

REGISTER_TYPED_TEST_SUITE_P(BackendBody, FollowsThePlainTwinSweepBySweep,
                            FrozenScalesStayAndTheOthersFollowThePlainTwin, NeverRaisesTheObjective,
                            MeasuresWhatTheFactorsAloneSay, GivesBackTheBitsItWasGiven,
                            GoesOnFromAStoppedRunToTheSameBits, UndoLeavesTheLastAcceptedPoint);

} // namespace pnmf::test
