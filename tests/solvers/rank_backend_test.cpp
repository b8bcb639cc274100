#include "solvers/crew_backend.hpp"
#include "solvers/large_problem.hpp"

namespace pnmf::test {
namespace {

template <class R, int ranks>
struct MakeCrew {
    using Real = R;
    static std::unique_ptr<Backend<R>> make(const Problem<R>& problem) {
        return std::make_unique<CrewBackend<R>>(problem, ranks, CellBlocks{problem.cells(), 4});
    }
};

using Crew = ::testing::Types<MakeCrew<float, 3>, MakeCrew<double, 2>, MakeCrew<double, 7>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Ranks, BackendBody, Crew);

template <class Real>
void expect_bits_of_the_cpu(bool sparse) {
    const BodyProblem<Real> made = large_problem<Real>(5200, sparse); // eight blocks
    const SolverOptions options{.tolerance = 0.0, .max_sweeps = 4};
    const auto expected = run_body(make_backend(Device::cpu, made.problem), made, options).state;
    for (const int ranks : {1, 2, 3, 4, 7, 11}) { // of eleven some have no cells
        SCOPED_TRACE(ranks);
        auto crew = std::make_unique<CrewBackend<Real>>(made.problem, ranks, usual_blocks(5200));
        expect_same(run_body<Real>(std::move(crew), made, options).state, expected);
    }
}

TEST(RankBackend, HasTheBitsOfOneProcessOnSparseData) {
    expect_bits_of_the_cpu<double>(true);
}

TEST(RankBackend, HasTheBitsOfOneProcessOnDenseData) {
    expect_bits_of_the_cpu<double>(false);
}

TEST(RankBackend, HasTheBitsOfOneProcessInSinglePrecision) {
    expect_bits_of_the_cpu<float>(true);
}

TEST(RankBackend, LeavesThePointBeforeBehindWhenARunIsOver) {
    const BodyProblem<double> made = large_problem<double>(5200, true);
    const auto one_step = [&](Backend<double>& backend) {
        auto state = start_solver(made.problem, SolverOptions{}, made.start);
        backend.load(state.current, state.previous);
        backend.move_copy();
        backend.basis_step(1);
        backend.graph_products();
        backend.embedding_pass();
        backend.accept();
        backend.store_last();
        return state;
    };
    const auto expected = one_step(*make_backend(Device::cpu, made.problem));
    CrewBackend<double> crew(made.problem, 3, usual_blocks(5200));
    const auto found = one_step(crew);
    EXPECT_EQ(found.current.W, expected.current.W);
    EXPECT_EQ(found.current.H, expected.current.H);
    EXPECT_EQ(found.previous.scales(), 0);
}

TEST(RankBackend, EvaluatesToTheBitsOfOneProcess) {
    const BodyProblem<double> made = large_problem<double>(5200, true);
    auto state = start_solver(made.problem, SolverOptions{}, made.start);
    const auto cpu = make_backend(Device::cpu, made.problem);
    cpu->load(state.current, state.previous);
    const Evaluation expected = cpu->evaluate();
    CrewBackend<double> crew(made.problem, 3, usual_blocks(5200));
    crew.load(state.current, state.previous);
    const Evaluation found = crew.evaluate();
    EXPECT_EQ(found.objective.total(), expected.objective.total());
    EXPECT_EQ(crew.objective().total(), expected.objective.total());
    for (std::size_t t = 0; t < expected.residuals.size(); ++t) {
        EXPECT_EQ(found.residuals[t].H.moved, expected.residuals[t].H.moved);
        EXPECT_EQ(found.residuals[t].H.size, expected.residuals[t].H.size);
        EXPECT_EQ(found.residuals[t].W.moved, expected.residuals[t].W.moved);
        EXPECT_EQ(found.residuals[t].W.size, expected.residuals[t].W.size);
    }
}

} // namespace
} // namespace pnmf::test
