#pragma once

#include "solvers/crew_backend.hpp"
#include "solvers/large_problem.hpp"
#include "support/sweep_bytes.hpp"

#include <vector>

namespace pnmf::test {

/// In a sweep on this device three ranks send as many bytes as the formula says.
template <class Real>
void expect_bytes_of_the_formula(Device device, const FrozenScales& frozen = {}) {
    const BodyProblem<Real> made = large_problem<Real>(5200, true);
    constexpr int R = 3;
    auto state = start_solver(made.problem, SolverOptions{}, made.start);
    CrewBackend<Real> crew(made.problem, R, usual_blocks(5200), device);
    crew.load(state.current, state.previous);
    crew.freeze(frozen);
    std::vector<Index> before;
    for (int r = 0; r < R; ++r) {
        before.push_back(crew.ranks()[r].bytes_sent());
    }
    crew.move_copy();
    crew.basis_step(2);
    crew.graph_products();
    crew.embedding_pass();
    crew.graph_products();
    crew.shift_components();
    crew.terms();
    crew.movement_H();

    const std::vector<Index> expected = sweep_bytes(
        made.problem, made.start.rank(), share(usual_blocks(5200), R), 1, frozen, device != Device::cpu);
    for (int r = 0; r < R; ++r) {
        EXPECT_EQ(crew.ranks()[r].bytes_sent() - before[r], expected[r]) << r;
    }
}

} // namespace pnmf::test
